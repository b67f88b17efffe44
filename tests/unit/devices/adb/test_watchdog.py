from __future__ import annotations

import asyncio

import pytest

from distrl.devices.adb.screen_capture import CapturedScreen
from distrl.devices.adb.watchdog import Watchdog
from distrl.devices.adb.window import Front
from distrl.errors import DeviceFrozen


class Pulse:
    """Uptimes, one per question; the last one again and again."""

    def __init__(self, *beats: float | None) -> None:
        self.beats = list(beats)
        self.asked = 0

    async def __call__(self) -> float | None:
        self.asked += 1
        return self.beats.pop(0) if len(self.beats) > 1 else self.beats[0]


def look(image: bytes, uptime_s: float | None) -> CapturedScreen:
    return CapturedScreen(image, (1, 1), False, Front(), uptime_s)


def watch(pulse: Pulse, *looks: CapturedScreen, touched: bool = True, at_s: float | None = None) -> Pulse:
    async def scene() -> None:
        dog = Watchdog("adb://x", pulse)
        for each in looks:
            await dog.check(each)
            if touched:
                dog.touched(at_s)

    asyncio.run(scene())
    return pulse


def test_picture_and_uptime_that_stand_still_after_an_input_are_a_frozen_phone():
    with pytest.raises(DeviceFrozen, match=r"7\.00 s"):
        watch(Pulse(7.0), look(b"a", 5.0), look(b"a", 7.0))


def test_a_picture_that_moves_is_a_living_phone_and_nobody_is_asked():
    assert watch(Pulse(7.0), look(b"a", 7.0), look(b"b", 7.0)).asked == 0


def test_a_still_picture_whose_time_goes_on_is_a_living_phone():
    assert watch(Pulse(7.1), look(b"a", 5.0), look(b"a", 7.0)).asked == 1


def test_a_still_picture_that_was_taken_later_than_the_input_was_done_needs_no_question():
    assert watch(Pulse(7.1), look(b"a", 5.0), look(b"a", 7.0), at_s=6.9).asked == 0


def test_a_phone_that_froze_with_the_input_is_found_by_its_first_picture():
    with pytest.raises(DeviceFrozen):
        watch(Pulse(7.0), look(b"a", 5.0), look(b"a", 7.0), at_s=7.0)


def test_without_an_input_a_picture_may_stay_for_ever():
    assert watch(Pulse(7.0), *[look(b"a", 7.0)] * 5, touched=False).asked == 0


def test_a_phone_that_keeps_its_uptime_to_itself_is_believed():
    assert watch(Pulse(None), look(b"a", None), look(b"a", None)).asked == 0


def test_a_proof_of_life_is_time_that_goes_on():
    asyncio.run(Watchdog("adb://x", Pulse(7.0, 7.1)).prove())
    with pytest.raises(DeviceFrozen):
        asyncio.run(Watchdog("adb://x", Pulse(7.0)).prove())
