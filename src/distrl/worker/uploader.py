"""Carries finished trajectories from the spool to the host, and knows when the spool is full.

Invariants: what was posted is on disk before `post` returns; it leaves the disk only after the host's receipt;
what an earlier process left behind goes first.
"""

from __future__ import annotations

import asyncio

from distrl.errors import StorageFull, Unreachable
from distrl.store.codec import encode
from distrl.types import Receipt, Trajectory
from distrl.worker.backoff import Backoff
from distrl.worker.base import HostClient, Outbox
from distrl.worker.feature_upload import FeatureUpload

BATCH = 16
"""Trajectories of one delivery: the host waits for its disk once for all of them. A few megabytes."""


class Uploader:
    """One per worker; slots never wait for it, unless their own disk is full."""

    def __init__(
        self,
        worker: str,
        spool: Outbox,
        client: HostClient,
        *,
        limit_bytes: int,
        sharing: FeatureUpload | None = None,
    ) -> None:
        self.worker = worker
        self.spool = spool
        self.client = client
        self.limit_bytes = limit_bytes
        self.sharing = sharing
        self.produced = 0
        self.delivered = 0
        self._refused: set[str] = set()
        self._leases: dict[str, str] = {}
        """Trajectory → its lease, until the host has answered."""
        self._one_at_a_time = asyncio.Lock()
        self._news = asyncio.Event()
        self._news.set()

    @property
    def full(self) -> bool:
        """True while so much waits for the host that no episode should start."""
        return self.spool.size_bytes > self.limit_bytes

    @property
    def waiting(self) -> list[str]:
        """Ids on disk that the host may still take, oldest first."""
        return [identifier for identifier in self.spool.pending() if identifier not in self._refused]

    async def post(self, trajectory: Trajectory, lease_id: str) -> None:
        """Put it on disk. While this machine's disk is full the caller, and nobody else, waits."""
        payload = encode(trajectory)
        backoff = Backoff()
        while True:
            try:
                await self._put(trajectory.id, payload)
                break
            except StorageFull as error:
                await self._report("spool_full", str(error))
                await backoff.wait()
        self._leases[trajectory.id] = lease_id
        if self.sharing:
            self.sharing.note(trajectory)
        self.produced += 1
        self._news.set()

    async def _put(self, identifier: str, payload: bytes) -> None:
        """In a thread: no other device waits for this one's disk."""
        writing = asyncio.get_running_loop().run_in_executor(None, self.spool.put, identifier, payload)
        try:
            await asyncio.shield(writing)
        except asyncio.CancelledError:
            await asyncio.wait([writing])  # whole before we leave, so that the worker's last round of delivery finds it
            raise

    async def run(self) -> None:
        """Deliver for ever."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self.drain()

    async def drain(self) -> None:
        """Deliver all that waits now, oldest first, however long the host makes us wait."""
        async with self._one_at_a_time:
            waiting = self.waiting
            for first in range(0, len(waiting), BATCH):
                await self._deliver(waiting[first : first + BATCH])

    async def _deliver(self, identifiers: list[str]) -> None:
        if self.sharing:
            for identifier in identifiers:
                await self.sharing.send(identifier)
        backoff = Backoff()
        while identifiers:
            try:
                receipts = await self.client.deliver([self.spool.read(identifier) for identifier in identifiers])
            except Unreachable:
                await backoff.wait()
                continue
            answered = zip(identifiers, receipts, strict=True)
            identifiers = [
                identifier for identifier, receipt in answered if not await self._settle(identifier, receipt)
            ]
            if identifiers:
                await backoff.wait()

    async def _settle(self, identifier: str, receipt: Receipt) -> bool:
        """Whether the host is done with it."""
        if receipt.settled:
            self.spool.remove(identifier)
            self._leases.pop(identifier, None)
            self.delivered += 1
            return True
        if receipt.status == "refused":
            # It stays on disk for whoever wants to look at it, and is not offered again by this process.
            self._refused.add(identifier)
            await self._give_back(identifier)
            await self._report("refused", f"spool entry {identifier} is no trajectory; it stays in the spool")
            return True
        return False

    async def _give_back(self, identifier: str) -> None:
        """Bytes that cannot be read do not tell the host whose task they were."""
        lease_id = self._leases.pop(identifier, None)
        if lease_id is None:
            return  # an earlier process played it; its leases were given back when we joined
        try:
            await self.client.give_back([lease_id])
        except Unreachable:
            return  # the host gives it back itself once the lease has run out

    async def _report(self, kind: str, detail: str) -> None:
        try:
            await self.client.report(self.worker, kind, detail)
        except Unreachable:
            return  # an event is not worth holding up a trajectory
