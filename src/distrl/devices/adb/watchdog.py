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
    """Asks only when a picture stayed as it was after an input, which is rare."""

    def __init__(self, address: str, uptime: AskUptime) -> None:
        self._address = address
        self._uptime = uptime
        self._shown = b""
        self._touched = False

    def touched(self) -> None:
        """The phone was told to do something that it may show."""
        self._touched = True

    async def check(self, look: Look) -> None:
        """Raises `DeviceFrozen`."""
        still = self._touched and look.image == self._shown
        self._touched, self._shown = False, look.image
        if still:
            await self._feel(look.uptime_s)

    async def prove(self) -> None:
        """Raises `DeviceFrozen` unless time goes on."""
        await self._feel(await self._uptime())

    async def _feel(self, before: float | None) -> None:
        if before is None:
            return  # this phone tells nobody how long it is up
        await asyncio.sleep(PULSE_S)
        if await self._uptime() == before:
            raise DeviceFrozen(self._address, before)
