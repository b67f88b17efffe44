"""Tells a frozen phone from one that only shows the same picture: the time of a living phone goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from distrl.devices.adb.sight import Look
from distrl.errors import DeviceFrozen

PULSE_S = 0.02
"""Between two looks at the uptime, which counts hundredths of a second."""

AskUptime = Callable[[], Awaitable[float | None]]


class Watchdog:
    """Asks only when a picture stayed as it was after an input, and no hundredth of a second was seen to pass since."""

    def __init__(self, address: str, uptime: AskUptime) -> None:
        self._address = address
        self._uptime = uptime
        self._shown = b""
        self._touched = False
        self._touched_at_s: float | None = None

    def touched(self, uptime_s: float | None = None) -> None:
        """The phone was told to do something that it may show. `uptime_s`: what its own count was after that."""
        self._touched, self._touched_at_s = True, uptime_s

    async def check(self, look: Look) -> None:
        """Raises `DeviceFrozen`."""
        still = self._touched and look.image == self._shown
        self._touched, self._shown = False, look.image
        if still and not self._went_on(look.uptime_s):
            await self._feel(look.uptime_s)

    async def prove(self) -> None:
        """Raises `DeviceFrozen` unless time goes on."""
        await self._feel(await self._uptime())

    def _went_on(self, uptime_s: float | None) -> bool:
        return None not in (uptime_s, self._touched_at_s) and uptime_s != self._touched_at_s

    async def _feel(self, before: float | None) -> None:
        if before is None:
            return  # this phone tells nobody how long it is up
        await asyncio.sleep(PULSE_S)
        if await self._uptime() == before:
            raise DeviceFrozen(self._address, before)
