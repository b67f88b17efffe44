"""The host in a thread of its own, one call at a time, as it has a process of its own on Ray."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from distrl.devices.base import Health
from distrl.host.host import Host
from distrl.runtime.topology import Builder
from distrl.types import Features, Lease, Receipt, VersionedWeights

P = ParamSpec("P")
R = TypeVar("R")


class HostThread:
    def __init__(self, builder: Builder, now: Callable[[], float]) -> None:
        self.host: Host = builder.host(now)
        self._thread = ThreadPoolExecutor(max_workers=1)

    async def call(self, method: Callable[Concatenate[Host, P], R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """`method` of the host, in its thread."""
        work = partial(method, self.host, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

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
        return await self._host.call(Host.join, worker)

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        return await self._host.call(Host.lease, worker, count)

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        await self._host.call(Host.give_back, lease_ids)

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        return await self._host.call(Host.deliver_all, payloads)

    async def share(self, features: Features) -> None:
        await self._host.call(Host.share, features)

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        weights = await self._host.call(Host.latest, newer_than, self._worker)
        assert weights is None or isinstance(weights, VersionedWeights)  # the learner in this process published them
        return weights

    async def report(self, worker: str, kind: str, detail: str) -> None:
        await self._host.call(Host.report, worker, kind, detail)

    async def health(self, worker: str, health: Health) -> None:
        await self._host.call(Host.health, worker, health)
