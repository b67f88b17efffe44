"""One device and its endless loop: lease, play, hand over. A slot waits for no other slot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from distrl.devices.base import Device
from distrl.errors import DeviceError, Unreachable
from distrl.types import Lease
from distrl.worker.base import HostClient
from distrl.worker.desk import Desk
from distrl.worker.episode import Episode
from distrl.worker.patience import Patience
from distrl.worker.pending import Pending

OpenDevice = Callable[[], Awaitable[Device]]
StartEpisode = Callable[[Device], Episode]


class Slot:
    """Owns one device. Ends when there is no task left, or when it is cancelled; then its lease is given back."""

    def __init__(
        self,
        worker: str,
        open_device: OpenDevice,
        episode_on: StartEpisode,
        desk: Desk,
        pending: Pending,
        client: HostClient,
    ) -> None:
        self.worker = worker
        self.open_device = open_device
        self.episode_on = episode_on
        self.desk = desk
        self.pending = pending
        self.client = client
        self._device: Device | None = None
        self._patience = Patience()

    async def run(self) -> None:
        try:
            while (lease := await self.desk.lease()) is not None:
                await self._work_off(lease)
        finally:
            await self._close_device()

    async def _work_off(self, lease: Lease) -> None:
        """Play and hand over what was played; a slot that is cancelled before hands its task back."""
        try:
            episode = self.episode_on(await self._ready_device())
            played = await episode.play_out(lease.task)
        except asyncio.CancelledError:
            await self._give_back(lease)
            raise
        await self.pending.take(played, lease)
        if episode.device_is_suspect:
            await self._report("device_lost", played.trajectory.outcome.reason)
            await self._close_device()
            await self._patience.wait()
        else:
            self._patience.reset()

    async def _ready_device(self) -> Device:
        patience = Patience()
        while self._device is None:
            try:
                self._device = await self.open_device()
            except DeviceError as error:
                await self._report("device_not_opened", str(error))
                await patience.wait()
        return self._device

    async def _close_device(self) -> None:
        device, self._device = self._device, None
        if device is None:
            return
        try:
            await device.close()
        except Exception as error:  # the device was broken anyway; a new one is opened in its place
            await self._report("device_not_closed", repr(error))

    async def _give_back(self, lease: Lease) -> None:
        try:
            await self.client.give_back([lease.id])
        except Unreachable:
            return  # the host gives it back itself once this worker is gone or the lease has run out

    async def _report(self, kind: str, detail: str) -> None:
        try:
            await self.client.report(self.worker, kind, detail)
        except Unreachable:
            return
