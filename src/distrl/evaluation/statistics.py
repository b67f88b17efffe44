"""95 % confidence intervals for rates, for the change of a rate, and for ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from distrl.types import Floats

Z95 = 1.959963984540054
"""Quantile of the normal distribution that leaves 2.5 % above it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and its 95 % interval."""

    estimate: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        return self.low > 0 or self.high < 0


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's score interval of a rate; (0, 1) when nothing was tried."""
    if n == 0:
        return 0.0, 1.0
    rate = successes / n
    centre = rate + Z95**2 / (2 * n)
    spread = Z95 * math.sqrt(rate * (1 - rate) / n + Z95**2 / (4 * n**2))
    scale = 1 + Z95**2 / n
    # The score equation has its root exactly at the edge there; rounding would miss it by 1e-17.
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == n else (centre + spread) / scale
    return low, high


def difference_ci95(before: Sequence[bool], after: Sequence[bool]) -> Interval:
    """By how much a success rate rose, when the same tasks were played before and after.

    `before[i]` and `after[i]` belong to one task. Newcombe's score interval for paired proportions (1998, method 10):
    it uses the correlation of the two, needs no random numbers, and is valid also where every task succeeds or fails.
    """
    if len(before) != len(after):
        raise ValueError(f"Paired tasks are needed: {len(before)} before, {len(after)} after.")
    n = len(before)
    if n == 0:
        return Interval(0.0, -1.0, 1.0)
    both = sum(b and a for b, a in zip(before, after, strict=True))
    gained = sum(a and not b for b, a in zip(before, after, strict=True))
    lost = sum(b and not a for b, a in zip(before, after, strict=True))
    rate_before, rate_after = (both + lost) / n, (both + gained) / n
    agreement = _phi(both, gained, lost, n - both - gained - lost)
    low_before, high_before = wilson(both + lost, n)
    low_after, high_after = wilson(both + gained, n)
    estimate = rate_after - rate_before
    down = _hypotenuse(rate_after - low_after, high_before - rate_before, agreement)
    up = _hypotenuse(high_after - rate_after, rate_before - low_before, agreement)
    return Interval(estimate, max(-1.0, estimate - down), min(1.0, estimate + up))


def ratio_ci95(numerator: Sequence[float], denominator: Sequence[float], seed: int, draws: int = 10_000) -> Interval:
    """Ratio of two means, from two independent samples.

    Percentile bootstrap: both samples are resampled with replacement.
    """
    if len(numerator) == 0 or len(denominator) == 0:
        raise ValueError("A ratio needs at least one measurement of each kind.")
    rng = np.random.default_rng(seed)
    ratios = _resampled_means(numerator, draws, rng) / _resampled_means(denominator, draws, rng)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return Interval(float(np.mean(numerator) / np.mean(denominator)), float(low), float(high))


def paired_ratio_ci95(
    numerator: Sequence[float], denominator: Sequence[float], seed: int, draws: int = 10_000
) -> Interval:
    """Ratio of two means, measured in alternation: `numerator[i]` and `denominator[i]` belong to one turn.

    Percentile bootstrap over turns, so that load that slows both in one turn cancels.
    """
    if len(numerator) != len(denominator) or len(numerator) == 0:
        raise ValueError(f"Paired turns are needed: {len(numerator)} above, {len(denominator)} below.")
    above, below = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    turns = np.random.default_rng(seed).integers(len(above), size=(draws, len(above)))
    low, high = np.quantile(above[turns].mean(axis=1) / below[turns].mean(axis=1), [0.025, 0.975])
    return Interval(float(above.mean() / below.mean()), float(low), float(high))


def _phi(both: int, gained: int, lost: int, neither: int) -> float:
    """Correlation of the paired outcomes, a positive one shrunk by Newcombe's continuity correction."""
    product = (both + gained) * (lost + neither) * (both + lost) * (gained + neither)
    if product == 0:
        return 0.0
    covariance = float(both * neither - gained * lost)
    if covariance > 0:
        covariance = max(covariance - (both + gained + lost + neither) / 2, 0.0)
    return covariance / math.sqrt(product)


def _hypotenuse(a: float, b: float, correlation: float) -> float:
    return math.sqrt(max(0.0, a * a - 2 * correlation * a * b + b * b))


def _resampled_means(sample: Sequence[float], draws: int, rng: np.random.Generator) -> Floats:
    values = np.asarray(sample, dtype=float)
    means: Floats = values[rng.integers(len(values), size=(draws, len(values)))].mean(axis=1)
    return means
