from __future__ import annotations

import asyncio
from typing import Any

import pytest
from flaky_devices import PHONE, TROUBLE, Blind, FlakyDevice, Notes, supervised
from toy import ToyDevice

from distrl.devices.fleet.ladder import STEP_DOWN_AFTER, RecoveryPolicy
from distrl.devices.fleet.supervisor import PROBATION_EPISODES, DeviceSupervisor
from distrl.errors import ConfigError, DeviceError, DeviceLost, EpisodeTooLong, NoSuchDevice


async def plays(supervisor: DeviceSupervisor, *faults: DeviceError | None) -> None:
    """Episodes that end with these faults, one after another."""
    for fault in faults:
        await supervisor.ready()
        await supervisor.on_episode_start()
        await supervisor.on_episode_end(fault)


def test_a_device_is_opened_once_and_stays_while_it_is_well():
    opened: list[ToyDevice] = []

    def open_device() -> ToyDevice:
        opened.append(ToyDevice())
        return opened[-1]

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> None:
        assert supervisor.device is None
        await plays(supervisor, None, None)
        assert supervisor.device is await supervisor.ready() is opened[0]
        assert supervisor.health.condition == "playing"

    notes = Notes()
    supervised(open_device, scene, notes=notes)
    assert len(opened) == 1
    assert opened[0].closed
    assert (notes.events, notes.pages) == ([], [])  # nothing to tell of a device without facts that never broke


def test_a_bare_device_is_closed_and_opened_anew():
    opened: list[ToyDevice] = []

    def open_device() -> ToyDevice:
        opened.append(ToyDevice())
        return opened[-1]

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, TROUBLE)
        assert supervisor.device is None
        await supervisor.ready()
        return supervisor.health

    health = supervised(open_device, scene)
    assert [device.closed for device in opened] == [True, True]
    assert (health.lost, health.recoveries, health.condition) == (1, 1, "ready")
    assert (health.tried, health.helped) == ({"retry": 1}, {"retry": 1})
    assert (health.slot, health.device, health.reason) == (3, "toy://0#3", "it broke")


@pytest.mark.parametrize("cure", PHONE)
def test_the_ladder_is_climbed_to_the_rung_that_helps(cure):
    flaky = FlakyDevice(cure)

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, TROUBLE)
        await supervisor.ready()
        return supervisor.health

    notes = Notes()
    health = supervised(lambda: flaky, scene, notes=notes)
    assert list(dict.fromkeys(flaky.climbed)) == list(PHONE[: PHONE.index(cure) + 1])
    assert health.helped == {cure: 1}
    assert health.tried[cure] == 1
    assert len(health.recovery_s) == 1
    assert notes.events == ["device_lost", "device_recovered"]
    assert [page.rung for page in notes.pages if page.condition == "recovering"] == flaky.climbed
    assert notes.pages[-1].condition == "ready"


def test_a_rung_is_tried_so_often_and_no_more():
    flaky = FlakyDevice(cure="wipe")

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, TROUBLE)
        await supervisor.ready()
        return supervisor.health.tried

    assert supervised(lambda: flaky, scene) == {
        "retry": 1, "reconnect": 3, "restart helper": 1, "force-stop app": 1, "reboot": 2, "wipe": 1
    }  # fmt: skip


def test_a_rung_that_never_ends_is_cut_at_its_deadline_and_the_next_is_tried():
    class Stuck(FlakyDevice):
        async def try_rung(self, rung: Any) -> None:
            if rung in ("retry", "reconnect"):
                await asyncio.sleep(1e9)

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, TROUBLE)
        began = loop.time()
        await supervisor.ready()
        return loop.time() - began, supervisor.health

    took, health = supervised(Stuck, scene)
    assert health.helped == {"restart helper": 1}
    assert took == pytest.approx(30.0 + 3 * 5.0 + 3.0, abs=1.0)
    assert health.recovery_s == (pytest.approx(took, abs=1.0),)


def test_a_rung_that_says_it_helped_is_believed_only_with_a_picture():
    device = Blind(failures=0)

    def open_device() -> Blind:
        return device

    async def broken(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, TROUBLE)
        device.failures = 2
        await supervisor.ready()
        return supervisor.health.helped, supervisor.health.tried

    assert supervised(open_device, broken) == ({"reconnect": 1}, {"retry": 1, "reconnect": 2})


def test_a_device_that_breaks_again_soon_begins_one_rung_higher_and_is_forgiven_later():
    flaky = FlakyDevice("retry")

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> None:
        await plays(supervisor, TROUBLE, TROUBLE, TROUBLE)
        assert flaky.climbed == ["retry", "reconnect"]
        await plays(supervisor, *[None] * (3 * STEP_DOWN_AFTER), TROUBLE)
        flaky.climbed.clear()
        await supervisor.ready()

    supervised(lambda: flaky, scene)
    assert flaky.climbed == ["retry"]


def test_at_the_top_is_quarantine_with_a_reason_and_an_end_and_the_device_is_let_go():
    devices: list[FlakyDevice] = []

    def open_device() -> FlakyDevice:
        devices.append(FlakyDevice(cure=None if len(devices) < 1 else "retry"))
        return devices[-1]

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, TROUBLE)
        waiting = asyncio.ensure_future(supervisor.ready())
        while supervisor.health.condition != "quarantined":
            await asyncio.sleep(0.1)
        health, began = supervisor.health, loop.time()
        assert devices[0].closed
        await waiting
        return health, loop.time() - began, supervisor.health

    inside, sat, after = supervised(open_device, scene)
    assert after.recovery_s[0] > 60.0  # it was away for as long as that
    assert (inside.reason, inside.probation, inside.quarantines) == ("it broke", True, 1)
    assert inside.until == pytest.approx(inside.since + 60.0)
    assert sat == pytest.approx(60.0, abs=1.0)
    assert (after.condition, after.probation) == ("ready", True)


def test_one_bad_episode_on_probation_is_quarantine_again_for_twice_as_long_and_good_ones_clear_the_record():
    devices: list[FlakyDevice] = []

    def open_device() -> FlakyDevice:
        devices.append(FlakyDevice(cure=None if not devices else "retry"))
        return devices[-1]

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> None:
        await plays(supervisor, TROUBLE, None, TROUBLE)
        before, climbed = loop.time(), [list(flaky.climbed) for flaky in devices]
        await supervisor.ready()
        assert loop.time() - before == pytest.approx(120.0, abs=1.0)
        assert [list(flaky.climbed) for flaky in devices[: len(climbed)]] == climbed  # no rung was wasted on it
        assert supervisor.health.quarantines == 2
        await plays(supervisor, *[None] * PROBATION_EPISODES)
        assert not supervisor.health.probation
        await plays(supervisor, TROUBLE)
        before = loop.time()
        await supervisor.ready()
        assert loop.time() - before < 1.0  # like any other device

    notes = Notes()
    supervised(open_device, scene, notes=notes)
    assert notes.events.count("device_quarantined") == 2
    assert "device_cleared" in notes.events


def test_a_device_that_never_opens_is_tried_for_ever_in_longer_and_longer_pauses():
    tried: list[float] = []

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> None:
        times.append(loop.time)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(supervisor.ready(), 2000.0)

    times: list[Any] = []

    def open_device() -> Any:
        tried.append(times[0]())
        raise NoSuchDevice("not plugged in")

    notes = Notes()
    supervised(open_device, scene, notes=notes)
    gaps = [later - sooner for sooner, later in zip(tried, tried[1:], strict=False)]
    pauses = [round(gap) for gap in gaps if gap > 4]
    assert pauses[:6] == [5, 10, 20, 40, 80, 160]
    assert len(pauses) > 8
    assert set(pauses[6:]) == {200}
    assert set(notes.pages[-1].tried) == {"retry", "reconnect"}
    assert notes.pages[-1].device == "toy://x#3"


def test_a_device_that_is_still_broken_after_quarantine_climbs_its_own_ladder():
    devices: list[FlakyDevice] = []

    def open_device() -> FlakyDevice:
        devices.append(FlakyDevice(cure=None if not devices else "reboot"))
        devices[-1].proved = len(devices) > 1  # the second is no better when it is opened
        return devices[-1]

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, TROUBLE)
        await supervisor.ready()
        return supervisor.health

    health = supervised(open_device, scene)
    assert devices[1].climbed[0] == "retry"
    assert devices[1].climbed[-1] == "reboot"
    assert (health.helped, health.quarantines) == ({"reboot": 1}, 1)


def test_the_reason_of_a_second_quarantine_is_what_was_wrong_before_it():
    opened: list[FlakyDevice] = []

    def open_device() -> FlakyDevice:
        if opened:
            raise NoSuchDevice("unplugged by now")
        opened.append(FlakyDevice(cure=None))
        return opened[0]

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> None:
        await plays(supervisor, TROUBLE)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(supervisor.ready(), 600.0)

    notes = Notes()
    supervised(open_device, scene, notes=notes)
    told = dict.fromkeys(page.reason for page in notes.pages if page.condition == "quarantined")
    assert list(told)[0] == "it broke"
    assert list(told)[-1] == "unplugged by now"


def test_what_is_not_the_device_s_fault_is_no_mark_against_it():
    flaky = FlakyDevice("retry")
    late = EpisodeTooLong("toy://flaky", 9.0)
    faults = [late] * 20

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, *faults, None)
        return supervisor.health

    health = supervised(lambda: flaky, scene)
    assert set(flaky.climbed) == {"retry"}
    assert (health.quarantines, health.lost) == (0, 20)


def test_the_last_rung_that_is_allowed_is_the_last_that_is_tried():
    flaky = FlakyDevice("reboot")

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> None:
        await plays(supervisor, TROUBLE)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(supervisor.ready(), 30.0)

    supervised(lambda: flaky, scene, RecoveryPolicy(last_rung="force-stop app"))
    assert flaky.climbed[-1] == "force-stop app"


def test_a_driver_with_a_bug_is_a_device_that_broke_and_a_wrong_setting_is_everybody_s_business():
    class Buggy(FlakyDevice):
        async def try_rung(self, rung: Any) -> None:
            if rung == "retry":
                raise ZeroDivisionError

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, DeviceLost("toy://0", "screen", 1.0))
        await supervisor.ready()
        return supervisor.health.helped

    assert supervised(Buggy, scene) == {"reconnect": 1}

    def no_adb() -> Any:
        raise ConfigError("There is no adb on this machine.")

    async def opens(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await supervisor.ready()

    with pytest.raises(ConfigError):
        supervised(no_adb, opens)


def test_new_facts_are_told_when_there_are_any():
    class Counting(FlakyDevice):
        popups = 0

        def facts(self) -> dict[str, Any]:
            return {"popups": self.popups}

    flaky, notes = Counting(), Notes()

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> None:
        await plays(supervisor, None, None)
        flaky.popups = 1
        await plays(supervisor, None, None)

    supervised(lambda: flaky, scene, notes=notes)
    assert [page.facts for page in notes.pages] == [{"popups": 0}, {"popups": 1}]


def test_a_device_that_cannot_be_closed_is_let_go_all_the_same():
    class Clinging(ToyDevice):
        async def close(self) -> None:
            await asyncio.sleep(1e9)

    async def scene(supervisor: DeviceSupervisor, loop: Any) -> Any:
        await plays(supervisor, TROUBLE)
        await supervisor.ready()
        return supervisor.health.helped

    notes = Notes()
    assert supervised(Clinging, scene, notes=notes) == {"retry": 1}
    assert "device_not_closed" in notes.events
