from __future__ import annotations

import asyncio

import pytest

from distrl.devices.adb.connection import ShellResult
from distrl.devices.adb.episode_checks import EpisodeChecks
from distrl.devices.adb.system_status import MIN_FREE_MB, SystemStatus, parse_uptime
from distrl.errors import PhoneFull

DF = """Filesystem     1K-blocks     Used Available Use% Mounted on
/dev/block/dm-5 {all} {used} {free} {share}% /data
"""


def df(free_mb: float) -> str:
    return DF.format(all=10**8, used=10**8 - int(free_mb * 1024), free=int(free_mb * 1024), share=99)


def test_a_phone_tells_its_clock_and_its_room():
    found = SystemStatus.parse(f"1700000000\n{df(500)}")
    assert found == SystemStatus(1700000000.5, 500.0)
    assert not found.full
    assert SystemStatus.parse(f"1700000000\n{df(MIN_FREE_MB - 1)}").full


@pytest.mark.parametrize(
    "text", ["", "date: not found\n", "Filesystem Size Used Free Blksize\n/data 25G 2G 23G 4096\n"]
)
def test_a_phone_that_does_not_tell_is_not_full(text):
    assert SystemStatus.parse(text) == SystemStatus(None, None)
    assert not SystemStatus.parse(text).full


def test_the_uptime_is_found_beside_other_lines():
    assert parse_uptime("  mCurrentRotation=ROTATION_0\n12345.67 80000.12\n") == 12345.67
    assert parse_uptime("cat: /proc/uptime: Permission denied\n") is None


class Phone:
    """Calls to a phone with so much room, before and after its caches are emptied."""

    address = "adb://phone"

    def __init__(self, *free_mb: float, ahead_s: float = 0.0) -> None:
        self.free_mb, self.ahead_s = list(free_mb), ahead_s
        self.trimmed = 0
        self.now = 1_700_000_000.0

    async def shell(self, operation, script, *, again=True):
        if "trim-caches" in script:
            self.trimmed += 1
            return ShellResult(0, b"", b"")
        free = self.free_mb.pop(0) if len(self.free_mb) > 1 else self.free_mb[0]
        self.now += 0.2
        return ShellResult(0, f"{int(self.now + self.ahead_s)}\n{df(free)}".encode(), b"")


def run(phone: Phone, times: int = 1, *, dry: bool = False) -> EpisodeChecks:
    checks = EpisodeChecks(lambda: phone.now, dry=dry)
    for _ in range(times):
        asyncio.run(checks.run(phone))
    return checks


def test_caches_are_emptied_only_when_there_is_no_room():
    roomy, cramped, full = Phone(500.0), Phone(1.0, 500.0), Phone(1.0)
    run(roomy)
    run(cramped)
    with pytest.raises(PhoneFull, match="1 MB of storage left"):
        run(full)
    assert (roomy.trimmed, cramped.trimmed, full.trimmed) == (0, 1, 1)


def test_a_dry_run_empties_nothing():
    phone = Phone(1.0)
    run(phone, dry=True)
    assert phone.trimmed == 0


def test_a_clock_is_compared_with_ours_and_only_a_jump_is_news():
    phone = Phone(500.0, ahead_s=3600.0)
    checks = run(phone, times=20)
    first = checks.clock_offset_s
    assert first == pytest.approx(3600.0, abs=1.0)
    asyncio.run(checks.run(phone))
    assert checks.clock_offset_s == first
    phone.ahead_s = -60.0
    asyncio.run(checks.run(phone))
    assert checks.clock_offset_s == pytest.approx(-60.0, abs=1.0)
