"""Distributions of episode durations, in seconds of real phones; a time scale shortens them for the bench.

Every profile has a mean of 250 s over its devices, as in the paper. The spread differs:

    homogeneous   every episode 250 s
    two-speed     half of the devices 100 s, the other half 400 s
    heavy-tail    Pareto with exponent 2.5, from 150 s, cut at fifty times that
    paper         log-normal, cut to a hundredfold range: 16 s to 26 min
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

from distrl.errors import UnknownName

MEAN_S = 250.0
ACTIONS = 8
RESET_SHARE = 0.2
ACTION_SHARE = (1.0 - RESET_SHARE) / ACTIONS

SLOW_TO_FAST = 4.0
PARETO_EXPONENT = 2.5
PARETO_RANGE = 50.0
PAPER_SPREAD = 1.0
PAPER_RANGE = 10.0
"""Largest factor, up and down, from the median."""


def _homogeneous(quantile: float, slot: int) -> float:
    return MEAN_S


def _two_speed(quantile: float, slot: int) -> float:
    fast_s = 2.0 * MEAN_S / (1.0 + SLOW_TO_FAST)
    return fast_s * (SLOW_TO_FAST if slot % 2 else 1.0)


def _heavy_tail(quantile: float, slot: int) -> float:
    least_s = MEAN_S / _cut_pareto_mean(PARETO_EXPONENT, PARETO_RANGE)
    return least_s * min(PARETO_RANGE, math.pow(1.0 - quantile, -1.0 / PARETO_EXPONENT))


def _paper(quantile: float, slot: int) -> float:
    median_s = MEAN_S / _cut_lognormal_mean(PAPER_SPREAD, PAPER_RANGE)
    factor = math.exp(PAPER_SPREAD * NormalDist().inv_cdf(quantile))
    return median_s * max(1.0 / PAPER_RANGE, min(PAPER_RANGE, factor))


PROFILES: dict[str, Callable[[float, int], float]] = {
    "homogeneous": _homogeneous,
    "two-speed": _two_speed,
    "heavy-tail": _heavy_tail,
    "paper": _paper,
}


@dataclass(frozen=True)
class EpisodeDurations:
    """Episode durations of one fleet."""

    profile: str
    scale: float

    def __post_init__(self) -> None:
        if self.profile not in PROFILES:
            raise UnknownName("profile", self.profile, tuple(PROFILES))

    def episode_s(self, slot: int, quantile: float) -> float:
        """Duration of a reset and all actions. It depends on the task's quantile, from 0 to 1 (both excluded), or on a
        two-speed fleet on the device."""
        return self.scale * PROFILES[self.profile](quantile, slot)


def _cut_pareto_mean(exponent: float, cut: float) -> float:
    """E[min(X, cut)] for a Pareto X that begins at 1."""
    return (exponent - math.pow(cut, 1.0 - exponent)) / (exponent - 1.0)


def _cut_lognormal_mean(spread: float, reach: float) -> float:
    """E[X] of a log-normal X of median 1 that is moved to 1/reach where it is below and to reach where it is above."""
    edge = math.log(reach) / spread
    inside = math.exp(spread**2 / 2) * (NormalDist().cdf(edge - spread) - NormalDist().cdf(-edge - spread))
    return inside + reach * NormalDist().cdf(-edge) + NormalDist().cdf(-edge) / reach
