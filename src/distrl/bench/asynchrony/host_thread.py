"""The host in a thread of its own, one call at a time, as it has a process of its own on Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from distrl.devices.base import Health
from distrl.host.host import Host
from distrl.runtime.topology import Builder
from distrl.types import Features, Lease, Receipt, VersionedWeights


class HostThread:
    def __init__(self, builder: Builder, now: Callable[[], float]) -> None:
        self.host: Host = builder.host(now)
        self._thread = ThreadPoolExecutor(max_workers=1)

    async def call(self, method: str, *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, getattr(self.host, method), *arguments)

    def close(self) -> None:
        self._thread.shutdown()
        self.host.close()


class HostThreadClient:
    """A `HostClient` for one worker."""

    def __init__(self, host: HostThread) -> None:
        self._host = host
        self._worker = ""

    async def join(self, worker: str) -> int:
        self._worker = worker
        number: int = await self._host.call("join", worker)
        return number

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        leases: list[Lease] = await self._host.call("lease", worker, count)
        return leases

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        await self._host.call("give_back", lease_ids)

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        receipts: list[Receipt] = await self._host.call("deliver_all", payloads)
        return receipts

    async def share(self, features: Features) -> None:
        await self._host.call("share", features)

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        weights: VersionedWeights | None = await self._host.call("latest", newer_than, self._worker)
        return weights

    async def report(self, worker: str, kind: str, detail: str) -> None:
        await self._host.call("report", worker, kind, detail)

    async def health(self, worker: str, health: Health) -> None:
        await self._host.call("health", worker, health)
