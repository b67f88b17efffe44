"""A worker: N devices that play at the same time with one copy of the policy, each at its own pace."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from distrl.background import in_background
from distrl.config import Config
from distrl.devices.base import Device
from distrl.devices.fleet.ladder import RecoveryPolicy
from distrl.devices.fleet.supervisor import DeviceSupervisor
from distrl.errors import CorruptData, Unreachable
from distrl.judges.base import Judge
from distrl.worker.backoff import Backoff
from distrl.worker.base import HostClient, Outbox, PolicyClient
from distrl.worker.episode import Episode, EpisodeLimits
from distrl.worker.feature_upload import FeatureUpload
from distrl.worker.herald import Herald
from distrl.worker.ids import TrajectoryIds
from distrl.worker.judging import Judging
from distrl.worker.lease_client import LeaseClient
from distrl.worker.slot import Slot
from distrl.worker.uploader import Uploader

WEIGHTS_POLL_S = 1.0
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
        self.client = client
        self.policy_client = policy_client
        self.judge = judge
        self.open_device = open_device
        self.now = now
        sharing = FeatureUpload(policy_client, client) if config.workers.share_features else None
        self.uploader = Uploader(name, spool, client, limit_bytes=config.workers.spool_mb * 2**20, sharing=sharing)
        self.pending = Judging(
            name,
            judge,
            self.uploader,
            client,
            limit=config.judge.max_pending,
            judge_s=config.judge.give_up_s + config.devices.command_timeout_s,  # its own deadline comes first
        )
        self.desk = LeaseClient(name, client, full=lambda: self.uploader.full, refresh=self.refresh_weights)
        self._stopping = asyncio.Event()
        self._refused_version = -1
        self._refreshing = asyncio.Lock()

    async def run(self) -> None:
        """Play until there is no task left or `stop` is called; nothing is ever delivered by halves.

        Raises what the policy raises: a model that cannot answer is nobody's lost device.
        """
        mint = TrajectoryIds(self.config.run.seed, await self._join())
        await self.uploader.drain()  # what an earlier process left goes first
        chores = (self.uploader.run(), self._follow_weights(), self.pending.watch(), self.pending.keep_account())
        errands = [asyncio.ensure_future(chore) for chore in chores]
        slots = [asyncio.ensure_future(slot.run()) for slot in self._slots(mint)]
        playing = asyncio.gather(*slots)
        ending = asyncio.ensure_future(self._stopping.wait())
        try:
            await _first_end([ending, playing, *errands])
            await _cancel([playing, *slots])
            await self._await_outcomes(ending)
            await asyncio.wait_for(self.uploader.drain(), self.config.runtime.wait_s)
        except TimeoutError:
            pass  # the host takes nothing now; what waits is safe on disk, and the next process delivers it
        finally:
            await _cancel([ending, playing, *slots, *errands])
            await self.pending.close()
            await self.desk.close()

    def stop(self) -> None:
        """Start no episode any more, give back what is being played, wait a moment for outcomes, deliver what is
        finished; `run` then returns."""
        self._stopping.set()

    def _slots(self, mint: Callable[[], str]) -> list[Slot]:
        devices = self.config.devices
        limits = EpisodeLimits(devices.command_timeout_s, devices.episode_timeout_s, self.config.policy.history)

        def starter(slot: int) -> Callable[[Device], Episode]:
            return lambda device: Episode(
                device, self.policy_client, self.judge, limits, mint=mint, now=self.now, worker=self.name, slot=slot
            )

        def caretaker(slot: int) -> DeviceSupervisor:
            def opener() -> Awaitable[Device]:
                return self.open_device(slot)

            herald = Herald(self.name, self.client)
            return DeviceSupervisor(slot, devices.address, opener, RecoveryPolicy.of(devices), herald, now=self.now)

        return [
            Slot(caretaker(number), starter(number), self.desk, self.pending, self.client)
            for number in range(devices.per_worker)
        ]

    async def _await_outcomes(self, ending: asyncio.Future[Any]) -> None:
        """All of them, where nothing is left to play; who was told to stop gives back what takes too long."""
        settling = asyncio.ensure_future(self.pending.settled())
        try:
            await _first_end([settling, ending])
            await asyncio.wait([settling], timeout=STOPPING_SHARE * self.config.runtime.wait_s)
            if settling.done():
                settling.result()
        finally:
            await _cancel([settling])
            await self.pending.close()

    async def _join(self) -> int:
        backoff = Backoff()
        while True:
            try:
                return await self.client.join(self.name)
            except Unreachable:
                await backoff.wait()

    async def _follow_weights(self) -> None:
        """Keep the policy new without stopping any device: each decision carries the version it was made with."""
        while True:
            with contextlib.suppress(Unreachable):  # the old weights still play; the next poll is a second away
                await self.refresh_weights()
            await asyncio.sleep(WEIGHTS_POLL_S)

    async def refresh_weights(self) -> None:
        """Take the newest weights there are. Torn ones are refused, reported once, and the old ones stay."""
        async with self._refreshing:  # two at once could end with the older of two versions
            await self._take_newest()

    async def _take_newest(self) -> None:
        weights = await self.client.latest(self.policy_client.version)
        if weights is None or weights.version == self._refused_version:
            return
        try:
            # Reading half a gigabyte takes a second; in the loop's own thread every device would wait for it.
            if not await in_background(lambda: weights.intact):
                raise CorruptData(f"Weights of version {weights.version} fail their checksum; the old ones stay.")
            await self.policy_client.load(weights)
        except CorruptData as error:
            self._refused_version = weights.version
            await self.client.report(self.name, "weights_refused", str(error))


async def _first_end(futures: Sequence[asyncio.Future[Any]]) -> None:
    """Wait for the first one to end, and raise its error if it has one."""
    done, _ = await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
    for future in done:
        future.result()


async def _cancel(futures: Sequence[asyncio.Future[Any]]) -> None:
    for future in futures:
        future.cancel()
    await asyncio.gather(*futures, return_exceptions=True)
