"""One device and its endless loop: be fit, lease, play, hand over. A slot waits for no other slot.

A slot holds a task only while its device is fit to play: who cannot open a device, or mends it, has no lease.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from distrl.devices.base import Device
from distrl.devices.fleet.supervisor import DeviceSupervisor
from distrl.errors import Unreachable
from distrl.types import Lease
from distrl.worker.base import HostClient
from distrl.worker.episode import Episode
from distrl.worker.judging import Judging
from distrl.worker.lease_client import LeaseClient

StartEpisode = Callable[[Device], Episode]


class Slot:
    """Ends when there is no task left, or when it is cancelled; then its lease is given back."""

    def __init__(
        self,
        caretaker: DeviceSupervisor,
        episode_on: StartEpisode,
        desk: LeaseClient,
        pending: Judging,
        client: HostClient,
    ) -> None:
        self.caretaker = caretaker
        self.episode_on = episode_on
        self.desk = desk
        self.pending = pending
        self.client = client

    async def run(self) -> None:
        try:
            while (device := await self._fit_device()) is not None:
                lease = await self.desk.lease()
                if lease is None:
                    return
                await self._work_off(device, lease)
        finally:
            await self.caretaker.close()

    async def _work_off(self, device: Device, lease: Lease) -> None:
        """Play and hand over what was played; a slot that is cancelled before hands its task back."""
        episode = self.episode_on(device)
        try:
            await self.caretaker.on_episode_start()
            played = await episode.play_out(lease.task)
        except asyncio.CancelledError:
            await self._give_back(lease)
            raise
        await self.pending.take(played, lease)
        await self.caretaker.on_episode_end(episode.fault)

    async def _fit_device(self) -> Device | None:
        """None when, before it was fit, the last task was played: then nobody waits for this device."""
        if self.caretaker.device is not None:
            return self.caretaker.device
        mending = asyncio.ensure_future(self.caretaker.ready())
        over = asyncio.ensure_future(self.desk.over.wait())
        try:
            await asyncio.wait((mending, over), return_when=asyncio.FIRST_COMPLETED)
            return mending.result() if mending.done() else None
        finally:
            for each in (mending, over):
                each.cancel()
            await asyncio.gather(mending, over, return_exceptions=True)

    async def _give_back(self, lease: Lease) -> None:
        try:
            await self.client.give_back([lease.id])
        except Unreachable:
            return  # the host gives it back itself once this worker is gone or the lease has run out
