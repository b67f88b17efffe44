"""The host as the parts of one worker ask it: a host out of reach never raises here.

What the worker cannot go on without (`join`, `lease`, `deliver`) is asked again, with backoff, until the host answers.
The rest is best effort: a lease that is not given back runs out, an event or a health record is lost, features are
computed by the learner, and newer weights are asked for again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from distrl.backoff import Backoff
from distrl.devices.base import Health
from distrl.errors import Unreachable
from distrl.types import Features, Lease, Receipt, VersionedWeights
from distrl.worker.base import HostClient

T = TypeVar("T")


class TolerantHostClient:
    """One per worker or policy server, around the client of its runtime."""

    def __init__(self, name: str, client: HostClient) -> None:
        self.name = name
        self._client = client

    async def join(self) -> int:
        return await _until_answered(lambda: self._client.join(self.name))

    async def lease(self, count: int) -> list[Lease] | None:
        return await _until_answered(lambda: self._client.lease(self.name, count))

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        return await _until_answered(lambda: self._client.deliver(payloads))

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        with contextlib.suppress(Unreachable):
            await self._client.give_back(lease_ids)

    async def event(self, kind: str, detail: str) -> None:
        with contextlib.suppress(Unreachable):
            await self._client.report(self.name, kind, detail)

    async def health(self, health: Health) -> None:
        with contextlib.suppress(Unreachable):
            await self._client.health(self.name, health)

    async def share(self, features: Features) -> None:
        with contextlib.suppress(Unreachable):
            await self._client.share(features)

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        with contextlib.suppress(Unreachable):
            return await self._client.latest(newer_than)
        return None


async def _until_answered(ask: Callable[[], Awaitable[T]]) -> T:
    backoff = Backoff()
    while True:
        try:
            return await ask()
        except Unreachable:
            await backoff.wait()
