"""Checks before an episode: the phone's clock offset and its free disk space."""

from __future__ import annotations

from collections.abc import Callable

from distrl.devices.adb import system_status
from distrl.devices.adb.connection import join_commands
from distrl.devices.adb.phone_client import PhoneClient
from distrl.devices.adb.system_status import SystemStatus
from distrl.errors import PhoneFull

CLOCK_TOLERANCE_S = 2.0
"""Smaller changes of the offset are ignored: `date` has whole seconds, and the call takes time."""


class EpisodeChecks:
    """For one phone. Its clock is only compared with ours, which timestamps everything."""

    def __init__(self, clock: Callable[[], float], *, dry: bool) -> None:
        """`clock`: seconds since 1970."""
        self.clock_offset_s: float | None = None
        """How far the phone's clock is ahead of ours; None while unknown."""
        self._clock = clock
        self._dry = dry

    async def run(self, client: PhoneClient) -> None:
        """Raises `PhoneFull` when the disk is full even after the caches were emptied."""
        if not (await self._read(client)).full or self._dry:
            return
        await client.shell("emptying caches", join_commands([system_status.TRIM]))
        found = await self._read(client)
        if found.full:
            raise PhoneFull(client.address, found.free_mb or 0.0)

    async def _read(self, client: PhoneClient) -> SystemStatus:
        asked_at = self._clock()
        found = SystemStatus.parse((await client.shell("vitals", system_status.STATUS)).text)
        if found.clock_s is not None:
            offset_s = found.clock_s - (asked_at + self._clock()) / 2
            if self.clock_offset_s is None or abs(offset_s - self.clock_offset_s) > CLOCK_TOLERANCE_S:
                self.clock_offset_s = round(offset_s, 1)
        return found
