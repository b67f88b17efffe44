"""A worker: N devices that play at the same time with one copy of the policy, each at its own pace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from distrl.config import Config
from distrl.devices.base import Device
from distrl.devices.fleet.ladder import RecoveryPolicy
from distrl.devices.fleet.supervisor import DeviceSupervisor
from distrl.judges.base import Judge
from distrl.types import Lease
from distrl.worker.base import HostClient, Outbox, PolicyClient
from distrl.worker.episode import Episode, EpisodeLimits, TrajectoryIds
from distrl.worker.feature_upload import FeatureUpload
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.judging import Judging
from distrl.worker.lease_client import LeaseClient
from distrl.worker.uploader import Uploader
from distrl.worker.weights import WeightFollower

STOPPING_SHARE = 0.25
"""Of `runtime.wait_s`: how long a worker that is told to stop waits for outcomes. The rest is for their delivery."""

OpenSlotDevice = Callable[[int], Awaitable[Device]]


class Worker:
    """A plain asyncio object: it knows its host, its policy and its devices by their protocols only."""

    def __init__(
        self,
        name: str,
        config: Config,
        *,
        client: HostClient,
        policy_client: PolicyClient,
        judge: Judge,
        open_device: OpenSlotDevice,
        spool: Outbox,
        now: Callable[[], float],
    ) -> None:
        self.name = name
        self.config = config
        self.policy_client = policy_client
        self.judge = judge
        self.open_device = open_device
        self.now = now
        self.host = TolerantHostClient(name, client)
        self.weights = WeightFollower(policy_client, self.host)
        sharing = config.workers.share_features
        features = FeatureUpload(policy_client.known_features, self.host) if sharing else None
        self.uploader = Uploader(spool, self.host, limit_bytes=config.workers.spool_mb * 2**20, features=features)
        self.judging = Judging(
            judge,
            self.uploader,
            self.host,
            limit=config.judge.max_pending,
            timeout_s=config.judge.give_up_s + config.devices.command_timeout_s,  # its own deadline comes first
        )
        self.leases = LeaseClient(self.host, full=lambda: self.uploader.full, refresh=self.weights.refresh)
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Play until there is no task left or `stop` is called; nothing is ever delivered by halves.

        Raises what the policy raises: a model that cannot answer is no fault of any device.
        """
        ids = TrajectoryIds(self.config.run.seed, await self.host.join())
        await self.uploader.drain()  # what an earlier process left goes first
        services = (self.uploader.run(), self.weights.run(), self.judging.raise_errors(), self.judging.report_usage())
        serving = [asyncio.ensure_future(service) for service in services]
        loops = [asyncio.ensure_future(self._device_loop(slot, ids).run()) for slot in self._slots]
        playing = asyncio.gather(*loops)
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await _first_end([stopping, playing, *serving])
            await _cancel([playing, *loops])
            await self._await_outcomes(stopping)
            await asyncio.wait_for(self.uploader.drain(), self.config.runtime.wait_s)
        except TimeoutError:
            pass  # the host takes nothing now; what waits is safe on disk, and the next process delivers it
        finally:
            await _cancel([stopping, playing, *loops, *serving])
            await self.judging.close()
            await self.leases.close()

    def stop(self) -> None:
        """Start no episode any more, give back what is being played, wait a moment for outcomes, deliver what is
        finished; `run` then returns."""
        self._stopping.set()

    @property
    def _slots(self) -> range:
        return range(self.config.devices.per_worker)

    def _device_loop(self, slot: int, ids: Callable[[], str]) -> DeviceLoop:
        devices = self.config.devices
        limits = EpisodeLimits(devices.command_timeout_s, devices.episode_timeout_s, self.config.policy.history)

        def open_device() -> Awaitable[Device]:
            return self.open_device(slot)

        def episode_on(device: Device) -> Episode:
            return Episode(
                device, self.policy_client, self.judge, limits, new_id=ids, now=self.now, worker=self.name, slot=slot
            )

        supervisor = DeviceSupervisor(
            slot, devices.address, open_device, RecoveryPolicy.of(devices), self.host, now=self.now
        )
        return DeviceLoop(supervisor, episode_on, self.leases, self.judging, self.host)

    async def _await_outcomes(self, stopping: asyncio.Future[Any]) -> None:
        """All of them, where nothing is left to play; a worker that was told to stop gives back what takes too long."""
        judged = asyncio.ensure_future(self.judging.all_judged())
        try:
            await _first_end([judged, stopping])
            await asyncio.wait([judged], timeout=STOPPING_SHARE * self.config.runtime.wait_s)
            if judged.done():
                judged.result()
        finally:
            await _cancel([judged])
            await self.judging.close()


class DeviceLoop:
    """What one device does until there is no task left: recover if need be, lease, play, submit. It waits for no other.

    It holds a task only while its device is fit to play: a device that is being opened or recovered has no lease.
    """

    def __init__(
        self,
        supervisor: DeviceSupervisor,
        episode_on: Callable[[Device], Episode],
        leases: LeaseClient,
        judging: Judging,
        host: TolerantHostClient,
    ) -> None:
        self._supervisor = supervisor
        self._episode_on = episode_on
        self._leases = leases
        self._judging = judging
        self._host = host

    async def run(self) -> None:
        try:
            while (device := await self._healthy_device()) is not None:
                if (lease := await self._leases.lease()) is None:
                    return
                await self._play(device, lease)
        finally:
            await self._supervisor.close()

    async def _play(self, device: Device, lease: Lease) -> None:
        """Play the task and submit the episode; a loop that is cancelled before that gives the lease back."""
        episode = self._episode_on(device)
        try:
            await self._supervisor.on_episode_start()
            played = await episode.play_out(lease.task, lease.id)
        except asyncio.CancelledError:
            await self._host.give_back([lease.id])
            raise
        await self._judging.submit(played)
        await self._supervisor.on_episode_end(episode.fault)

    async def _healthy_device(self) -> Device | None:
        """None when the last task was played before the device was fit: then nobody waits for it."""
        if self._supervisor.device is not None:
            return self._supervisor.device
        recovering = asyncio.ensure_future(self._supervisor.ready())
        over = asyncio.ensure_future(self._leases.over.wait())
        try:
            await asyncio.wait((recovering, over), return_when=asyncio.FIRST_COMPLETED)
            return recovering.result() if recovering.done() else None
        finally:
            await _cancel([recovering, over])


async def _first_end(futures: Sequence[asyncio.Future[Any]]) -> None:
    """Wait for the first one to end, and raise its error if it has one."""
    done, _ = await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    for future in done:
        future.result()


async def _cancel(futures: Sequence[asyncio.Future[Any]]) -> None:
    for future in futures:
        future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)
