"""The same comparison with the real learner and the real policy on Ray, and simulated phones with added latency.

Everything is read from the run folders afterwards, so some times are measured instead of configured: an episode's own
time is its duration, inference included; a learner step lasts from the end of a round's last episode to its version.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from distrl.bench.asynchrony.profiles import ACTION_SHARE, RESET_SHARE, EpisodeDurations
from distrl.bench.asynchrony.timeline import BusyTimes, Timeline, TimelineEpisode
from distrl.config import Config, load_config
from distrl.devices.base import Device, Inspectable
from distrl.errors import ConfigError
from distrl.runtime import launch
from distrl.runtime.topology import Builder
from distrl.store.run import RunStore
from distrl.types import Action, Screen, Task, Tree

USES = "uses"
"""Folder in the run folder: when each device was busy, a file per worker."""
WARM_UP_SHARE = 0.2
"""Share of an asynchronous run that is left out as warm-up."""


class PacedBuilder(Builder):
    """Builds real parts with phones that have the latency of a profile; the run's name contains the profile."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self._file: TextIO | None = None

    async def device(self, worker: str, slot: int) -> Any:
        if self._file is None:
            (self.folder / USES).mkdir(exist_ok=True)
            self._file = (self.folder / USES / f"{worker}.jsonl").open("a", encoding="utf-8", buffering=1)
        return PacedDevice(await super().device(worker, slot), slot, pace_of(self.config.run.name), self._file)


def run_name(pace: EpisodeDurations, devices: int, repeat: int, *, synchronous: bool) -> str:
    kind = "sync" if synchronous else "async"
    return f"{kind}_{pace.profile}_{pace.scale:g}_{devices}_{repeat}"


def pace_of(name: str) -> EpisodeDurations:
    _, profile, scale, _, _ = name.split("_")
    return EpisodeDurations(profile, float(scale))


class PacedDevice:
    """A phone that waits before each operation as the profile says, and records when it was busy."""

    def __init__(self, device: Device, slot: int, pace: EpisodeDurations, file: TextIO) -> None:
        self.address = device.address
        self._device = device
        self._slot = slot
        self._pace = pace
        self._file = file
        self._episode_s = 0.0

    async def reset(self, task: Task) -> Screen:
        quantile = random.Random(f"{task.id}/{task.seed}").uniform(1e-9, 1.0 - 1e-9)
        self._episode_s = self._pace.episode_s(self._slot, quantile)
        with _Recorded(self, "reset"):
            await asyncio.sleep(RESET_SHARE * self._episode_s)
            return await self._device.reset(task)

    async def perform(self, action: Action) -> None:
        with _Recorded(self, "act"):
            await asyncio.sleep(ACTION_SHARE * self._episode_s)
            await self._device.perform(action)

    async def screen(self) -> Screen:
        with _Recorded(self, "act"):
            return await self._device.screen()

    async def close(self) -> None:
        await self._device.close()

    async def evidence(self) -> Tree | None:
        return await self._device.evidence() if isinstance(self._device, Inspectable) else None

    def note(self, kind: str, started_at: float, ended_at: float) -> None:
        self._file.write(json.dumps([self._slot, kind, started_at, ended_at]) + "\n")


class _Recorded:
    def __init__(self, device: PacedDevice, kind: str) -> None:
        self._device = device
        self._kind = kind

    def __enter__(self) -> None:
        self._started_at = time.time()

    def __exit__(self, *error: object) -> None:
        self._device.note(self._kind, self._started_at, time.time())


@dataclass(frozen=True)
class RealTrial:
    """One training run."""

    config: str
    """A config by name or path, for model, tasks and learner."""
    pace: EpisodeDurations
    devices: int
    repeat: int
    synchronous: bool
    minutes: float
    folder: Path

    def settings(self) -> Config:
        """Both kinds make a version of as many trajectories as there are devices, and use each once on average."""
        name = run_name(self.pace, self.devices, self.repeat, synchronous=self.synchronous)
        return load_config(
            self.config,
            [
                f"run.name={name}",
                f"run.folder={self.folder}",
                f"run.minutes={self.minutes}",
                f"run.seed={self.repeat}",
                "run.learner_steps=null",
                "run.trajectories=null",
                "workers.count=1",
                f"devices.per_worker={self.devices}",
                "devices.address=sim://phone",
                "devices.command_timeout_s=1e6",
                "devices.episode_timeout_s=1e6",
                "replay.warmup=1",
                f"pacing.max_lag={0 if self.synchronous else 'null'}",
                f"pacing.trajectories_per_version={self.devices}",
                "pacing.max_reuse=1",
                f"learner.trajectories_per_step={self.devices}",
                "learner.publish_every=1",
                "evaluation.before=false",
                "evaluation.after=false",
            ],
        )

    def play(self) -> Timeline:
        settings = self.settings()
        if launch(settings, builder=PacedBuilder) != 0:
            raise ConfigError(f"The run {settings.run_folder} was interrupted.")
        return replace(
            read(settings.run_folder, self.devices, synchronous=self.synchronous), scale=self.pace.scale
        )  # times are wall-clock: policy and learner took their real time


def read(folder: Path, devices: int, *, synchronous: bool) -> Timeline:
    """The timeline of a run that is over."""
    uses = _uses(folder / USES)
    with RunStore.read(folder) as store:
        rows = store.table("device", "started_at", "duration_s", "policy_version", "version_at_insert", "steps")
        published = store.metrics("version")
    if not len(rows["steps"]):
        raise ConfigError(f"Nothing was played in {folder}. Give the bench more --minutes.")
    episodes = _episodes(rows, uses)
    begin, end = min(uses.started_at), max(uses.ended_at)
    begin += WARM_UP_SHARE * (end - begin)
    if synchronous:
        starts = _round_starts(episodes)
        if len(starts) < 3:
            raise ConfigError(f"Not one whole round was counted in {folder}. Give the bench more --minutes.")
        begin, end = starts[1], starts[-1]
    steps = round(float(np.mean(rows["steps"])))
    learner_s = _learner_s(episodes, published.value, published.at) if synchronous else 0.0
    return Timeline(devices, learner_s, begin, end, episodes, uses, steps)


def _uses(folder: Path) -> BusyTimes:
    uses = BusyTimes()
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            slot, kind, started_at, ended_at = json.loads(line)
            uses.add(slot, kind, started_at, ended_at)
    return uses


def _episodes(rows: dict[str, Any], uses: BusyTimes) -> tuple[TimelineEpisode, ...]:
    """Stored episodes, and those still playing: the last reset of a device that belongs to no stored episode."""
    by_slot: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for cells in zip(*(rows[name].tolist() for name in rows), strict=True):
        by_slot[int(str(cells[0]).rpartition("#")[2])].append(cells[1:])
    lasted = np.asarray(rows["duration_s"], dtype=float)
    stopped_at = max(uses.ended_at)
    found = []
    for slot, played in by_slot.items():
        played.sort()
        resets = [
            at for s, k, at in zip(uses.slot, uses.kind, uses.started_at, strict=True) if (s, k) == (slot, "reset")
        ]
        open_at = max(resets) if max(resets) >= played[-1][0] + played[-1][1] else None
        starts = [start for start, *_ in played[1:]] + [open_at]
        for (start, seconds, version, inserted, _), following in zip(played, starts, strict=True):
            found.append(TimelineEpisode(slot, start, start + seconds, following, seconds, version, inserted - version))
        if open_at is not None:
            elapsed = stopped_at - open_at
            longer = lasted[lasted > elapsed]
            found.append(
                TimelineEpisode(slot, open_at, None, None, float(longer.mean()) if len(longer) else 2.0 * elapsed)
            )
    return tuple(found)


def _round_starts(episodes: tuple[TimelineEpisode, ...]) -> list[float]:
    first: dict[int, float] = {}
    for episode in episodes:
        if episode.ended_at is not None:
            first[episode.version] = min(episode.started_at, first.get(episode.version, np.inf))
    return [first[version] for version in sorted(first)]


def _learner_s(episodes: tuple[TimelineEpisode, ...], versions: Any, published_at: Any) -> float:
    """Median over rounds of the time from its last episode's end to the version made of it."""
    last: dict[int, float] = {}
    for episode in episodes:
        if episode.ended_at is not None:
            last[episode.version] = max(episode.ended_at, last.get(episode.version, 0.0))
    at = {int(version): float(when) for version, when in zip(versions, published_at, strict=True)}
    taken = [at[version + 1] - ended_at for version, ended_at in last.items() if version + 1 in at]
    return float(np.median(taken)) if taken else 0.0
