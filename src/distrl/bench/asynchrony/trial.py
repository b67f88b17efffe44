"""One run of a simulated fleet through the real worker, spool, host, store and pacing; the learner only sleeps.

Worker and learner share an event loop; the host has a thread, as it has a process on Ray: no device waits for its disk.
On a virtual event loop the same run takes almost no time and is deterministic.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from distrl.bench._fixed_judge import ALWAYS_SUCCESS
from distrl.bench.asynchrony.fleet import ScriptedPolicyClient, WaitingPhone, WaitingSuite
from distrl.bench.asynchrony.host_thread import HostThread, HostThreadClient
from distrl.bench.asynchrony.profiles import ACTIONS, MEAN_S, EpisodeDurations
from distrl.bench.asynchrony.timeline import BusyTimes, Timeline, TimelineEpisode
from distrl.config import Config
from distrl.host.host import Host
from distrl.runtime.topology import Builder
from distrl.store.run import RunStore
from distrl.types import VersionedWeights

IDLE_S = 1.0
"""Polling interval of the learner when there is nothing to learn from, and of the end of a run."""
WARM_UP_EPISODES = 2.0
"""Warm-up of an asynchronous fleet, in mean episodes: all devices started at the same moment."""
WHOLE_ROUNDS = 2
"""Minimum number of counted rounds of a synchronous run."""
FOREVER_S = 1e6


@dataclass(frozen=True)
class AsyncTrial:
    """The settings of one run. Times are those of real phones, and are multiplied by `scale`."""

    profile: str
    devices: int
    seed: int
    scale: float
    think_s: float
    learner_s: float
    max_lag: int | None
    """0: synchronous, in rounds of one episode per device."""

    @property
    def synchronous(self) -> bool:
        return self.max_lag == 0

    @property
    def pace(self) -> EpisodeDurations:
        return EpisodeDurations(self.profile, self.scale)

    def config(self, folder: Path) -> Config:
        """Both kinds make one version of as many trajectories as there are devices, and use each once."""
        return Config.model_validate(
            {
                "run": {"folder": str(folder.parent), "name": folder.name, "seed": self.seed, "minimum_free_mb": 0},
                "devices": {
                    "per_worker": self.devices,
                    "command_timeout_s": FOREVER_S,
                    "episode_timeout_s": FOREVER_S,
                },
                "tasks": {"lease_s": FOREVER_S},
                "replay": {"warmup": 1, "capacity": 100_000},
                "pacing": {"max_lag": self.max_lag, "trajectories_per_version": self.devices, "max_reuse": 1.0},
                "learner": {"trajectories_per_step": self.devices},
                "workers": {"share_features": False},
            }
        )


class WaitingBuilder(Builder):
    """Builds the parts of a run with simulated latency."""

    def __init__(self, config: Config, pace: EpisodeDurations) -> None:
        super().__init__(config)
        self.pace = pace
        self.uses = BusyTimes()
        self.began: dict[tuple[int, float], float] = {}

    def suite(self) -> Any:
        return WaitingSuite()

    def judge(self) -> Any:
        return ALWAYS_SUCCESS

    async def device(self, worker: str, slot: int) -> Any:
        return WaitingPhone(slot, self.pace, self.uses, self.began)


class SleepingLearner:
    """Samples, sleeps for as long as a step takes, publishes a version."""

    def __init__(self, host: HostThread, trial: AsyncTrial) -> None:
        self._host = host
        self._count = trial.devices
        self._step_s = trial.scale * trial.learner_s
        self._idle_s = trial.scale * IDLE_S
        self.published_at: list[float] = []
        self.used: list[str] = []
        """Ids of the sampled trajectories, with repetitions."""

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            sample = await self._host.call(Host.sample, self._count)
            if sample is None:
                await asyncio.sleep(self._idle_s)
                continue
            self.used += sample.ids
            await asyncio.sleep(self._step_s)
            version = len(self.published_at) + 1
            await self._host.call(Host.update_priorities, sample.ids, [1.0] * self._count)
            await self._host.call(Host.record, version, {})
            await self._host.call(Host.publish, VersionedWeights.seal(version, {"none": np.zeros(1)}))
            self.published_at.append(loop.time())


@dataclass(frozen=True)
class FinishedTrial:
    """The result of a run."""

    timeline: Timeline
    """In phone time."""
    used: tuple[TimelineEpisode, ...]
    """Every episode that the learner sampled, with repetitions."""


async def play(trial: AsyncTrial, folder: Path, seconds: float) -> FinishedTrial:
    """Play for about this long. A synchronous run ends with a whole round, and has at least two of them."""
    loop = asyncio.get_running_loop()
    cpu = time.process_time()
    config = trial.config(folder)
    RunStore.create(folder, config.model_dump(mode="json"), {}).close()
    builder = WaitingBuilder(config, trial.pace)
    host = HostThread(builder, loop.time)
    learner = SleepingLearner(host, trial)
    worker = builder.worker("worker-0", _as_server(trial), HostThreadClient(host), loop.time)
    began_at = loop.time()
    tasks = [asyncio.ensure_future(worker.run()), asyncio.ensure_future(learner.run())]
    try:
        over = _rounds_over if trial.synchronous else _time_over
        while not over(began_at + seconds, loop.time(), learner, builder):
            _raise_errors(tasks)
            await asyncio.sleep(trial.scale * IDLE_S)
        ended_at = loop.time()
        worker.stop()
        await tasks[0]
        cpus = (time.process_time() - cpu) / (loop.time() - began_at)
        return _played(trial, builder, host.host, learner, began_at, ended_at, cpus)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        host.close()


def _as_server(trial: AsyncTrial) -> Any:
    """The policy client in place of a policy server: it only waits, so there is nothing to batch."""
    return ScriptedPolicyClient(trial.scale * trial.think_s)


def _time_over(deadline: float, now: float, learner: SleepingLearner, builder: WaitingBuilder) -> bool:
    return now >= deadline


def _rounds_over(deadline: float, now: float, learner: SleepingLearner, builder: WaitingBuilder) -> bool:
    """Whether the next round has begun after the last one that counts."""
    versions = learner.published_at
    if now < deadline or len(versions) <= WHOLE_ROUNDS:
        return False
    return _next_round_at(learner, builder) is not None


def _next_round_at(learner: SleepingLearner, builder: WaitingBuilder) -> float | None:
    """When the first episode began since the last version."""
    starts = [at for _, at in builder.began if at > learner.published_at[-1]]
    return min(starts, default=None)


def _raise_errors(tasks: Sequence[asyncio.Future[None]]) -> None:
    for task in tasks:
        if task.done():
            task.result()


def _played(
    trial: AsyncTrial,
    builder: WaitingBuilder,
    host: Host,
    learner: SleepingLearner,
    began_at: float,
    ended_at: float,
    cpus: float,
) -> FinishedTrial:
    think_s = trial.scale * trial.think_s * (ACTIONS + 1)
    own = {key: episode_s + think_s for key, episode_s in builder.began.items()}
    begin = began_at + min(WARM_UP_EPISODES * trial.scale * MEAN_S, 0.5 * (ended_at - began_at))
    if trial.synchronous:
        begin, ended_at = learner.published_at[0], _next_round_at(learner, builder) or ended_at
    episodes, by_id = _episodes(host.store, own, ended_at)
    timeline = Timeline(
        devices=trial.devices,
        learner_s=trial.scale * trial.learner_s,
        begin=begin,
        end=ended_at,
        episodes=episodes,
        uses=builder.uses,
        steps=ACTIONS + 1,
        scale=trial.scale,
        cpus=cpus,
    )
    return FinishedTrial(
        timeline.in_phone_time(), tuple(by_id[name].slower(1.0 / trial.scale) for name in learner.used)
    )


def _episodes(
    store: RunStore, own: dict[tuple[int, float], float], ended_at: float
) -> tuple[tuple[TimelineEpisode, ...], dict[str, TimelineEpisode]]:
    """Every episode that began, joined with what the host stored of it; and the same by the trajectory's id."""
    rows = store.table("id", "device", "started_at", "duration_s", "policy_version", "version_at_insert")
    stored = {
        (int(device.rpartition("#")[2]), place): (name, start + lasted, version, inserted - version)
        for place, (name, device, start, lasted, version, inserted) in _numbered(rows)
    }
    starts: dict[int, list[float]] = {}
    for slot, at in sorted(own):
        starts.setdefault(slot, []).append(at)
    found: list[TimelineEpisode] = []
    names: dict[str, TimelineEpisode] = {}
    for slot, times in starts.items():
        for place, (at, following) in enumerate(zip(times, [*times[1:], None], strict=True)):
            name, end, version, lag = stored.get((slot, place), ("", None, 0, 0))
            ended_in_time = end if end is not None and end <= ended_at else None
            found.append(TimelineEpisode(slot, at, ended_in_time, following, own[slot, at], version, lag))
            names[name] = found[-1]
    return tuple(found), names


def _numbered(rows: dict[str, Any]) -> list[tuple[int, tuple[Any, ...]]]:
    """Rows with their number within their device, ordered by start time."""
    order = np.argsort(rows["started_at"], kind="stable")
    seen: dict[str, int] = {}
    numbered = []
    for index in order:
        cells = tuple(column[index] for column in rows.values())
        device = str(cells[1])
        seen[device] = seen.get(device, -1) + 1
        numbered.append((seen[device], cells))
    return numbered


def run_trial(trial: AsyncTrial, folder: Path, seconds: float) -> FinishedTrial:
    """The same in real time."""
    return asyncio.run(play(trial, folder, seconds))


Runner = Callable[[AsyncTrial, Path, float], FinishedTrial]
