"""Looks at a phone as an agent should see it: without boxes of the system before the app, and sure that it lives."""

from __future__ import annotations

from collections import Counter

from distrl.devices.adb import vitals
from distrl.devices.adb.calls import Calls
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.popups import Press, Watcher
from distrl.devices.adb.sight import Look, Sight
from distrl.devices.adb.watchdog import Watchdog


class Observer:
    """Of one phone, as long as one line to it lasts."""

    def __init__(
        self, options: AdbOptions, calls: Calls, press: Press, dismissed: Counter[str], *, served: bool
    ) -> None:
        """`press` does something on the phone and lets it settle; `dismissed` counts boxes by their kind."""
        self.calls = calls
        self.sight = Sight(calls)
        self.watchdog = Watchdog(calls.address, self._uptime)
        self.watcher = Watcher(options, self.sight, press, dismissed, served=served)
        self._wake = not options.dry

    async def look(self) -> tuple[Look, tuple[str, ...]]:
        """What it shows, and flags for what was put aside. Raises `DeviceFrozen`, and what `Sight.look` raises."""
        return await self.watcher.clear(await self._look(), self._look)

    async def _look(self) -> Look:
        look = await self.sight.look(wake=self._wake)
        await self.watchdog.check(look)
        return look

    async def _uptime(self) -> float | None:
        return vitals.parse_uptime((await self.calls.shell("uptime", vitals.UPTIME)).text)
