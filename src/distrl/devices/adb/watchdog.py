"""Tells a frozen phone from one that shows an unchanged screen: only the uptime of a frozen one stands still."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from distrl.devices.adb.screen_capture import CapturedScreen
from distrl.errors import DeviceFrozen

UPTIME_INTERVAL_S = 0.02
"""Between two readings of the uptime, which counts hundredths of a second."""

ReadUptime = Callable[[], Awaitable[float | None]]


class Watchdog:
    """Reads the uptime only when the screen is unchanged after an input and no earlier reading shows progress."""

    def __init__(self, address: str, read_uptime: ReadUptime) -> None:
        self._address = address
        self._read_uptime = read_uptime
        self._shown = b""
        self._touched = False
        self._touched_at_s: float | None = None

    def touched(self, uptime_s: float | None = None) -> None:
        """An input was sent. `uptime_s`: the phone's uptime after it."""
        self._touched, self._touched_at_s = True, uptime_s

    async def check(self, shot: CapturedScreen) -> None:
        """Raises `DeviceFrozen`."""
        still = self._touched and shot.image == self._shown
        self._touched, self._shown = False, shot.image
        if still and not self._advanced(shot.uptime_s):
            await self._check_advances(shot.uptime_s)

    async def prove(self) -> None:
        """Raises `DeviceFrozen` unless the uptime advances."""
        await self._check_advances(await self._read_uptime())

    def _advanced(self, uptime_s: float | None) -> bool:
        return None not in (uptime_s, self._touched_at_s) and uptime_s != self._touched_at_s

    async def _check_advances(self, before: float | None) -> None:
        if before is None:
            return  # this phone does not report its uptime
        await asyncio.sleep(UPTIME_INTERVAL_S)
        if await self._read_uptime() == before:
            raise DeviceFrozen(self._address, before)
