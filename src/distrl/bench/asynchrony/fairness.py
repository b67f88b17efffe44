"""Whether pacing starves slow tasks: the episodes that the learner samples against those that were admitted.

On the virtual clock, through the same worker, host and pacing: exact, deterministic, and done in seconds. The learner
is slower than the fleet, so that `max_lag` does hold devices. Compared are the own times of episodes that began early
enough for all of them to have ended, as admitted and as sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from distrl.bench.asynchrony.profiles import MEAN_S
from distrl.bench.asynchrony.trial import AsyncTrial, FinishedTrial, play
from distrl.runtime.clock import run_virtually

VERSIONS = 120
SCALE = 0.1
"""Virtual seconds cost nothing, but every poll does."""
LEARNER_S = 2.0 * MEAN_S
"""A version takes as long as two mean episodes and uses up one of each device: the fleet is held half of the time."""


def fairness_row(profile: str, devices: int, max_lag: int, folder: Path, *, seed: int = 0) -> dict[str, Any]:
    """Kolmogorov–Smirnov distance between durations admitted and durations trained on, with its 95 % limit."""
    trial = AsyncTrial(profile, devices, seed, scale=SCALE, think_s=0.5, learner_s=LEARNER_S, max_lag=max_lag)
    seconds = SCALE * VERSIONS * LEARNER_S
    played = run_virtually(lambda loop: play(trial, folder, seconds))
    admitted, trained = cohort(played)
    return {
        "profile": profile,
        "devices": devices,
        "max_lag": max_lag,
        "admitted": len(admitted),
        "trained": len(trained),
        "ks": ks_distance(admitted, trained),
        "ks_95": ks_limit95(len(admitted), len(trained)),
        "mean_s_admitted": float(np.mean(admitted)),
        "mean_s_trained": float(np.mean(trained)),
        "busy_fraction": played.timeline.busy_fraction,
        "lag_max": int(max(episode.lag for episode in played.timeline.episodes)),
    }


def cohort(played: FinishedTrial) -> tuple[list[float], list[float]]:
    """Own times of episodes that began in the second quarter, and of the learner's samples of them, with repetitions.

    The first quarter is left out: under any rule, the first trajectory to be learned from is a short episode.
    """
    run = played.timeline
    first, last = 0.25 * run.end, 0.5 * run.end
    admitted = [episode.own_s for episode in run.episodes if first < episode.started_at <= last]
    return admitted, [episode.own_s for episode in played.used if first < episode.started_at <= last]


def ks_distance(one: Sequence[float], other: Sequence[float]) -> float:
    """Largest difference between two empirical distribution functions (Kolmogorov and Smirnov)."""
    a, b = np.sort(np.asarray(one)), np.sort(np.asarray(other))
    places = np.concatenate([a, b])
    below_a = np.searchsorted(a, places, side="right") / len(a)
    below_b = np.searchsorted(b, places, side="right") / len(b)
    return float(np.abs(below_a - below_b).max())


def ks_limit95(one: int, other: int) -> float:
    """95 % critical value of the distance between two independent samples of one distribution."""
    return float(1.358 * np.sqrt((one + other) / (one * other)))
