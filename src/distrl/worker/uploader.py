"""Takes finished trajectories to the spool on this machine's disk, and from there to the host.

Invariants: what was put is on disk before `put` returns; it leaves the disk only after the host's receipt; what an
earlier process left behind goes first.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from distrl.backoff import Backoff
from distrl.errors import StorageFull
from distrl.store.codec import encode
from distrl.types import Receipt, Trajectory
from distrl.worker.base import Outbox
from distrl.worker.feature_upload import FeatureUpload
from distrl.worker.host_client import TolerantHostClient

BATCH = 16
"""Trajectories of one delivery: the host waits for its disk once for all of them. A few megabytes."""


@dataclass(frozen=True, slots=True)
class _Undelivered:
    """What is known here of a trajectory that waits for its receipt, without reading it again."""

    lease_id: str
    screens: tuple[str, ...]
    """Those that the learner will look at; none of an invalid one."""


class Uploader:
    """One per worker; devices never wait for it, unless their own disk is full."""

    def __init__(
        self, spool: Outbox, host: TolerantHostClient, *, limit_bytes: int, features: FeatureUpload | None = None
    ) -> None:
        self.spool = spool
        self.produced = 0
        self.delivered = 0
        self._host = host
        self._limit_bytes = limit_bytes
        self._features = features
        self._refused: set[str] = set()
        self._undelivered: dict[str, _Undelivered] = {}
        """Of this process; what an earlier one left in the spool has no lease any more."""
        self._one_at_a_time = asyncio.Lock()
        self._work = asyncio.Event()
        self._work.set()

    @property
    def full(self) -> bool:
        """True while so much waits for the host that no episode should start."""
        return self.spool.size_bytes > self._limit_bytes

    @property
    def waiting(self) -> list[str]:
        """Ids on disk that the host may still take, oldest first."""
        return [identifier for identifier in self.spool.pending() if identifier not in self._refused]

    async def put(self, trajectory: Trajectory) -> None:
        """Put it on disk. While this machine's disk is full the caller, and nobody else, waits."""
        payload, backoff = encode(trajectory), Backoff()
        while True:
            try:
                await self._write(trajectory.id, payload)
                break
            except StorageFull as error:
                await self._host.event("spool_full", str(error))
                await backoff.wait()
        learned_from = trajectory.steps if trajectory.outcome.kind != "invalid" else ()
        screens = tuple(step.screen.digest for step in learned_from)
        self._undelivered[trajectory.id] = _Undelivered(trajectory.lease_id, screens)
        self.produced += 1
        self._work.set()

    async def run(self) -> None:
        """Deliver until cancelled."""
        while True:
            await self._work.wait()
            self._work.clear()
            await self.drain()

    async def drain(self) -> None:
        """Deliver all that waits now, oldest first, however long the host makes us wait."""
        async with self._one_at_a_time:
            waiting = self.waiting
            for first in range(0, len(waiting), BATCH):
                await self._deliver(waiting[first : first + BATCH])

    async def _write(self, identifier: str, payload: bytes) -> None:
        """In a thread: no other device waits for this one's disk."""
        writing = asyncio.get_running_loop().run_in_executor(None, self.spool.put, identifier, payload)
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])  # whole before we leave, so that the worker's last round of delivery finds it
            raise

    async def _deliver(self, identifiers: list[str]) -> None:
        if self._features:
            for identifier in identifiers:
                if known := self._undelivered.get(identifier):
                    await self._features.send(known.screens)
        backoff = Backoff()
        while True:
            receipts = await self._host.deliver([self.spool.read(identifier) for identifier in identifiers])
            answered = zip(identifiers, receipts, strict=True)
            identifiers = [identifier for identifier, receipt in answered if not await self._done(identifier, receipt)]
            if not identifiers:
                return
            await backoff.wait()

    async def _done(self, identifier: str, receipt: Receipt) -> bool:
        """Whether the host need not be asked again about this one."""
        if receipt.settled:
            self.spool.remove(identifier)
            self._undelivered.pop(identifier, None)
            self.delivered += 1
        elif receipt.status == "refused":
            # It stays on disk for whoever wants to look at it, and is not offered again by this process.
            self._refused.add(identifier)
            if known := self._undelivered.pop(identifier, None):
                await self._host.give_back([known.lease_id])  # the host may not have been able to read whose it was
            await self._host.event("refused", f"spool entry {identifier} is no trajectory; it stays in the spool")
        return receipt.status != "later"
