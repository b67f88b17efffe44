"""Collection rates, their ratio, and its upper bound.

Definitions (docs/benchmarks.md has them for readers); minutes are those of phones, the time scale is taken out:

- own time of an episode: its duration without any waiting for other components; the device's own latency plus the
  policy's.
- asynchronous rate: episodes per minute in the window. An episode partly inside counts by that part, from its beginning
  to the beginning of the device's next one: counting whole episodes only would bias the rate.
- perfect asynchronous rate: the same episodes on the same devices without gaps: the rate, times time taken over own
  time.
- synchronous rate: episodes of whole rounds over the time from one round's beginning to the next one's.
- perfect synchronous rate: the same rounds, each as long as the own time of its longest episode and one learner step,
  the minimum with a barrier.
- ceiling: perfect asynchronous over perfect synchronous rate. achieved: ratio over ceiling.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from distrl.bench.asynchrony.timeline import Timeline, TimelineEpisode
from distrl.errors import ConfigError
from distrl.evaluation.statistics import ratio_ci95


@dataclass(frozen=True, slots=True)
class CollectionRate:
    """Trajectories per minute: as measured, and without any overhead for the same episodes."""

    per_min: float
    perfect_per_min: float

    @property
    def efficiency(self) -> float:
        return self.per_min / self.perfect_per_min


def asynchronous_rate(run: Timeline) -> CollectionRate:
    stretch = _stretch(run)
    counted = sum(_part_inside(episode, run, stretch) for episode in run.episodes)
    per_min = 60.0 * counted / run.seconds
    return CollectionRate(per_min, per_min * stretch)


def _stretch(run: Timeline) -> float:
    """Time taken over own time."""
    taken = sum(episode.cycle_s or 0.0 for episode in run.cycles)
    own = sum(episode.own_s for episode in run.cycles)
    if own <= 0.0:
        raise ConfigError("No device ended an episode while the bench counted. Give it more --minutes.")
    return taken / own


def _part_inside(episode: TimelineEpisode, run: Timeline, stretch: float) -> float:
    """Share of an episode that is inside the window. One that was still playing is given its expected duration."""
    cycle_s = episode.cycle_s if episode.cycle_s is not None else stretch * episode.own_s
    ended_at = min(run.end, episode.started_at + cycle_s)
    return max(0.0, ended_at - max(run.begin, episode.started_at)) / cycle_s


@dataclass(frozen=True, slots=True)
class SyncRound:
    episodes: int
    seconds: float
    """From its beginning to the next one's."""
    longest_s: float
    """Own time of its longest episode."""


def rounds(run: Timeline) -> list[SyncRound]:
    """The whole rounds of a synchronous run: the episodes of one version, up to the next version."""
    by_version: dict[int, list[TimelineEpisode]] = defaultdict(list)
    for episode in run.episodes:
        if episode.ended_at is not None:
            by_version[episode.version].append(episode)
    groups = [by_version[version] for version in sorted(by_version)]
    starts = [min(episode.started_at for episode in group) for group in groups]
    ends = [*starts[1:], run.end][: len(starts)]
    return [
        SyncRound(len(group), end - start, max(episode.own_s for episode in group))
        for group, start, end in zip(groups, starts, ends, strict=True)
        if run.begin <= start < run.end
    ]


def synchronous_rate(run: Timeline) -> CollectionRate:
    played = rounds(run)
    if not played:
        raise ConfigError("Not one whole synchronous round was played. Give the bench more --minutes.")
    episodes = sum(each.episodes for each in played)
    seconds = sum(each.seconds for each in played)
    least_s = sum(each.longest_s + run.learner_s for each in played)
    return CollectionRate(60.0 * episodes / seconds, 60.0 * episodes / least_s)


@dataclass(frozen=True)
class RunPair:
    """The same devices, policy and tasks, once without and once with a barrier."""

    asynchronous: Timeline
    synchronous: Timeline


def row(profile: str, devices: int, pairs: Sequence[RunPair]) -> dict[str, Any]:
    """The figures of one fleet on one profile over all repeats."""
    free = [asynchronous_rate(pair.asynchronous) for pair in pairs]
    held = [synchronous_rate(pair.synchronous) for pair in pairs]
    ratio = ratio_ci95([rate.per_min for rate in free], [rate.per_min for rate in held], seed=0)
    ceiling = _mean(rate.perfect_per_min for rate in free) / _mean(rate.perfect_per_min for rate in held)
    lags = [e.lag for pair in pairs for e in counted(pair.asynchronous)]
    return {
        "profile": profile,
        "devices": devices,
        "async_per_min": _mean(rate.per_min for rate in free),
        "sync_per_min": _mean(rate.per_min for rate in held),
        "ratio": ratio.estimate,
        "ratio_ci95": [ratio.low, ratio.high],
        "ceiling": ceiling,
        "achieved": ratio.estimate / ceiling,
        "busy_fraction": _mean(pair.asynchronous.busy_fraction for pair in pairs),
        "lag_p50": float(np.quantile(lags, 0.5)),
        "lag_p95": float(np.quantile(lags, 0.95)),
        "async_efficiency": _mean(rate.efficiency for rate in free),
        "sync_efficiency": _mean(rate.efficiency for rate in held),
        "sync_busy_fraction": _mean(pair.synchronous.busy_fraction for pair in pairs),
        "scale": pairs[0].asynchronous.scale,
        "per_device_per_min": _mean(rate.per_min for rate in free) / devices,
        "cpus": _mean(pair.asynchronous.cpus for pair in pairs),
        "latencies": latencies([pair.asynchronous for pair in pairs]),
        "repeats": {"async_per_min": [r.per_min for r in free], "sync_per_min": [r.per_min for r in held]},
    }


def counted(run: Timeline) -> list[TimelineEpisode]:
    """Episodes that ended in the window."""
    return [e for e in run.episodes if e.ended_at is not None and run.begin < e.ended_at <= run.end]


def latencies(runs: Sequence[Timeline]) -> dict[str, float]:
    """What one episode consists of, in seconds, from which `distrl plan` predicts other fleets.

    Sums over devices divided by episodes: with devices of two speeds, these times reproduce the fleet's rate.
    """
    episodes = sum(asynchronous_rate(run).per_min * run.seconds / 60.0 for run in runs)
    device_s = sum(run.devices * run.seconds for run in runs)
    reset_s = sum(run.uses.inside(run.begin, run.end, "reset") for run in runs)
    act_s = sum(run.uses.inside(run.begin, run.end, "act") for run in runs)
    between_s = _mean((e.next_at or 0.0) - (e.ended_at or 0.0) for run in runs for e in run.cycles)
    steps = runs[0].steps
    return {
        "steps": float(steps),
        "reset_s": reset_s / episodes,
        "action_s": act_s / episodes / steps,
        "think_s": ((device_s - reset_s - act_s) / episodes - between_s) / steps,
        "between_s": between_s,
        "learner_s": runs[0].learner_s,
    }


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))
