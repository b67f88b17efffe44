"""The host called directly: what a worker holds when both live in one process."""

from __future__ import annotations

from collections.abc import Sequence

from distrl.devices.base import Health
from distrl.host.host import Host
from distrl.types import Features, Lease, Receipt, VersionedWeights


class LocalClient:
    """A `HostClient` for one worker."""

    def __init__(self, host: Host, worker: str) -> None:
        self._host = host
        self._worker = worker

    async def join(self, worker: str) -> int:
        return self._host.join(worker)

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        return self._host.lease(worker, count)

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        self._host.give_back(lease_ids)

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        return self._host.deliver_all(payloads)

    async def share(self, features: Features) -> None:
        self._host.share(features)

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        weights = self._host.latest(newer_than, self._worker)
        assert weights is None or isinstance(weights, VersionedWeights)  # the learner in this process published them
        return weights

    async def report(self, worker: str, kind: str, detail: str) -> None:
        self._host.report(worker, kind, detail)

    async def health(self, worker: str, health: Health) -> None:
        self._host.health(worker, health)
