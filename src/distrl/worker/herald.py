"""Tells the host how devices are. News that does not arrive holds nobody up."""

from __future__ import annotations

import contextlib

from distrl.devices.base import Health
from distrl.errors import Unreachable
from distrl.worker.base import HostClient


class Herald:
    """One per worker."""

    def __init__(self, worker: str, client: HostClient) -> None:
        self._worker = worker
        self._client = client

    async def event(self, kind: str, detail: str) -> None:
        with contextlib.suppress(Unreachable):
            await self._client.report(self._worker, kind, detail)

    async def health(self, health: Health) -> None:
        with contextlib.suppress(Unreachable):
            await self._client.health(self._worker, health)
