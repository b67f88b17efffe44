"""A run's learning curves as arrays: read from the store, smoothed, over time and over trajectories."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from distrl.evaluation.evaluate import Evaluation, evaluate
from distrl.store.run import RunStore
from distrl.types import Floats

BINS = 40


@dataclass(frozen=True, slots=True)
class Training:
    """Every inserted trajectory, in the order of insertion. Every array has shape [N]."""

    minutes: Floats
    """When it ended, since the first one started."""
    success: Floats
    episode_return: Floats
    """Outcome minus the penalties of its invalid actions."""
    lag: Floats
    steps: Floats
    invalid_actions: Floats
    entropy: Floats
    starts_at: float
    """When the first one started, by the host's clock."""

    def __len__(self) -> int:
        return len(self.minutes)

    @property
    def count(self) -> Floats:
        return np.arange(1, len(self) + 1, dtype=float)

    @property
    def window(self) -> int:
        """Trajectories in the moving average of a smoothed curve."""
        return int(np.clip(len(self) // 12, 5, 64))

    def smooth(self, values: Floats) -> Floats:
        return moving_average(values, self.window)


@dataclass(frozen=True, slots=True)
class EvaluationPoint:
    """An evaluation and its position on the curves."""

    name: str
    step: int
    minutes: float
    count: int
    """Trajectories inserted before it."""
    evaluation: Evaluation


def training(store: RunStore, invalid_penalty: float) -> Training:
    table = store.table(
        "started_at",
        "duration_s",
        "outcome",
        "policy_version",
        "version_at_insert",
        "steps",
        "invalid_actions",
        "entropy",
    )
    started, duration = table["started_at"].astype(float), table["duration_s"].astype(float)
    starts_at = float(started.min()) if len(started) else 0.0
    success = (table["outcome"] == "success").astype(float)
    invalid_actions = table["invalid_actions"].astype(float)
    return Training(
        minutes=(started + duration - starts_at) / 60,
        success=success,
        episode_return=success - invalid_penalty * invalid_actions,
        lag=(table["version_at_insert"] - table["policy_version"]).astype(float),
        steps=table["steps"].astype(float),
        invalid_actions=invalid_actions,
        entropy=table["entropy"].astype(float),
        starts_at=starts_at,
    )


def evaluation_points(store: RunStore, seen: Training) -> list[EvaluationPoint]:
    """All evaluations. `before` is placed at the start and `after` at the end, regardless of the clock."""
    last = float(seen.minutes.max()) if len(seen) else 0.0
    found = []
    for entry in store.evaluations():
        minutes = {"before": 0.0, "after": last}.get(entry.name, (entry.at - seen.starts_at) / 60)
        minutes = float(np.clip(minutes, 0.0, last))
        count = int((seen.minutes <= minutes).sum()) if entry.name != "before" else 0
        found.append(
            EvaluationPoint(entry.name, entry.step, minutes, count, evaluate(store.evaluation_trajectories(entry.name)))
        )
    return found


def moving_average(values: Floats, window: int) -> Floats:
    """Mean of the last `window` values; nan while fewer than half of them exist."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    last = np.arange(1, len(values) + 1)
    first = np.maximum(0, last - window)
    means: Floats = (sums[last] - sums[first]) / (last - first)
    means[: min(window // 2, len(means) - 1)] = np.nan
    return means


def throughput(minutes: Floats, bins: int = BINS) -> tuple[Floats, Floats]:
    """Trajectories per minute over time: middle of each bin, and the rate in it."""
    if len(minutes) < 2 or minutes.max() <= 0:
        return np.empty(0), np.empty(0)
    counts, edges = np.histogram(minutes, bins=min(bins, max(1, len(minutes) // 5)), range=(0.0, float(minutes.max())))
    return (edges[:-1] + edges[1:]) / 2, counts / np.diff(edges)
