"""What is looked at before an episode: the phone's clock, and whether it has room."""

from __future__ import annotations

from collections.abc import Callable

from distrl.devices.adb import vitals
from distrl.devices.adb.calls import Calls
from distrl.devices.adb.line import joined
from distrl.devices.adb.vitals import Vitals
from distrl.errors import PhoneFull

STEADY_S = 2.0
"""A clock that moved by less is where it was: it tells whole seconds, and the way to it takes time."""


class Checks:
    """Of one phone. Our own clock orders all that happens; that of the phone is only compared with it."""

    def __init__(self, clock: Callable[[], float], *, dry: bool) -> None:
        """`clock`: seconds since 1970."""
        self.clock_offset_s: float | None = None
        """How far the phone's clock is ahead; None before it was asked, and for a phone that does not tell."""
        self._clock = clock
        self._dry = dry

    async def run(self, calls: Calls) -> None:
        """Raises `PhoneFull` when there is no room, also after caches were emptied."""
        if not (await self._look(calls)).full or self._dry:
            return
        await calls.shell("emptying caches", joined([vitals.TRIM]))
        found = await self._look(calls)
        if found.full:
            raise PhoneFull(calls.address, found.free_mb or 0.0)

    async def _look(self, calls: Calls) -> Vitals:
        asked_at = self._clock()
        found = Vitals.parse((await calls.shell("vitals", vitals.SURVEY)).text)
        if found.clock_s is not None:
            offset_s = found.clock_s - (asked_at + self._clock()) / 2
            if self.clock_offset_s is None or abs(offset_s - self.clock_offset_s) > STEADY_S:
                self.clock_offset_s = round(offset_s, 1)
        return found
