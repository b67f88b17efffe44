"""Bootstrap: 95 % intervals over tasks and seeds.

All runs play the same test tasks, so tasks and seeds are crossed: a draw resamples tasks, the same for all methods, and
seeds for each method, so that task difficulty cancels in comparisons. Percentiles of 10,000 draws. With three seeds the
variance between seeds is poorly estimated, and the interval is slightly too narrow.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from distrl.evaluation.statistics import Interval
from distrl.types import Floats

DRAWS = 10_000


class Bootstrap:
    """Resamples one split's tasks, and each method's seeds with a generator seeded by the method's name."""

    def __init__(self, tasks: int, draws: int = DRAWS) -> None:
        self._draws = draws
        self._tasks = _weights(np.random.default_rng(0), draws, tasks)

    def rates(self, outcomes: Sequence[Floats], method: str) -> Floats:
        """The success rate in each draw. One array per seed, shape [tasks], nan where an episode was invalid."""
        table = np.array(outcomes)  # [seeds, tasks]
        seeds = _weights(np.random.default_rng(zlib.crc32(method.encode())), self._draws, len(table))
        valid = np.isfinite(table)
        solved = (seeds * (self._tasks @ np.where(valid, table, 0.0).T)).sum(1)
        played = (seeds * (self._tasks @ valid.astype(float).T)).sum(1)
        rates: Floats = solved / np.maximum(played, 1.0)
        return rates


def rate(outcomes: Sequence[Floats]) -> float:
    """Success rate over all valid episodes of all seeds; nan when there is none."""
    table = np.array(outcomes)
    return float(np.nanmean(table)) if np.isfinite(table).any() else float("nan")


def interval(estimate: float, draws: Floats) -> Interval:
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(estimate, float(low), float(high))


def ratio(numerator: float, denominator: float, above: Floats, below: Floats) -> Interval | None:
    """A ratio of two rates with its interval, from their draws; None when over 1 % of the denominator's draws are 0."""
    if denominator <= 0 or (below <= 0).mean() > 0.01:
        return None
    some = below > 0
    return interval(numerator / denominator, above[some] / below[some])


def _weights(rng: np.random.Generator, draws: int, count: int) -> Floats:
    """Bootstrap multiplicities: how often each of `count` items is in a resample of `count`; shape [draws, count]."""
    return rng.multinomial(count, np.full(count, 1 / count), size=draws).astype(float)
