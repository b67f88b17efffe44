"""Keeps a policy at the newest version while devices play on: each decision carries the version that made it."""

from __future__ import annotations

import asyncio
import contextlib

from distrl.background import in_background
from distrl.errors import CorruptData
from distrl.types import VersionedWeights
from distrl.worker.base import FollowingPolicy
from distrl.worker.host_client import TolerantHostClient

POLL_S = 1.0
"""Longest time between two questions for newer weights; asking is also the sign of life that the host waits for."""


class WeightFollower:
    """One per policy: that of a worker, or that of a policy server."""

    def __init__(self, policy: FollowingPolicy, host: TolerantHostClient) -> None:
        self._policy = policy
        self._host = host
        self._published = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()
        self._refused_version = -1

    def notify(self) -> None:
        """A version was published: ask now, not at the next poll. To be called in the event loop's own thread."""
        self._published.set()

    async def run(self) -> None:
        """Follow until cancelled."""
        while True:
            self._published.clear()
            await self.refresh()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._published.wait(), POLL_S)

    async def refresh(self) -> None:
        """Load the newest weights there are. Torn ones are refused and reported once; the old ones stay."""
        async with self._one_at_a_time:  # two at once could end with the older of two versions
            weights = await self._host.latest(self._policy.version)
            if weights is None or weights.version == self._refused_version:
                return
            try:
                await check(weights)
                await self._policy.load(weights)
            except CorruptData as error:
                self._refused_version = weights.version
                await self._host.event("weights_refused", str(error))


async def check(weights: VersionedWeights) -> None:
    """Raises `CorruptData` for weights that do not have the checksum they were sealed with."""
    # Reading half a gigabyte takes a second; in the loop's own thread every device would wait for it.
    if not await in_background(lambda: weights.intact):
        raise CorruptData(f"Weights of version {weights.version} fail their checksum; the old ones stay.")
