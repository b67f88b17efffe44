"""The intervals, against slow draws and by what they must be."""

from __future__ import annotations

import numpy as np
import pytest

from distrl.bench.learning.bootstrap import Bootstrap, interval, rate, ratio


def slow_rates(table: np.ndarray, draws: int) -> list[float]:
    """A slow version: resample tasks, resample seeds, count."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(draws):
        tasks, seeds = rng.integers(table.shape[1], size=table.shape[1]), rng.integers(len(table), size=len(table))
        found.append(np.nanmean(table[seeds][:, tasks]))
    return found


def test_the_draws_spread_as_slow_ones_do():
    rng = np.random.default_rng(0)
    table = (rng.random((3, 30)) < np.array([[0.3], [0.5], [0.8]])).astype(float)
    table[1, :4] = np.nan
    fast = Bootstrap(30).rates(list(table), "a_ride")
    slow = slow_rates(table, 4000)
    assert np.mean(fast) == pytest.approx(np.mean(slow), abs=0.02)
    np.testing.assert_allclose(np.quantile(fast, [0.025, 0.975]), np.quantile(slow, [0.025, 0.975]), atol=0.03)


def test_what_is_hard_for_all_is_no_difference_between_two():
    outcomes = [(np.random.default_rng(0).random(50) < 0.5).astype(float)]
    bootstrap = Bootstrap(50)
    assert (bootstrap.rates(outcomes, "one") == bootstrap.rates(outcomes, "other")).all()


def test_seeds_that_differ_widen_the_interval():
    alike, apart = [np.full(40, 0.5)] * 3, [np.full(40, value) for value in (0.0, 0.5, 1.0)]
    bootstrap = Bootstrap(40)
    assert np.ptp(bootstrap.rates(alike, "m")) == 0.0
    assert np.ptp(bootstrap.rates(apart, "m")) > 0.5


def test_invalid_episodes_are_in_no_rate():
    assert rate([np.array([1.0, np.nan, 0.0]), np.array([1.0, 1.0, np.nan])]) == 0.75


def test_a_ratio_lies_in_its_interval_and_there_is_none_over_nothing():
    above, below = np.array([0.6, 0.7, 0.8]), np.array([0.4, 0.5, 0.6])
    found = ratio(0.7, 0.5, above, below)
    assert found is not None
    assert found.estimate == pytest.approx(1.4)
    assert found.low <= found.estimate <= found.high
    assert ratio(0.7, 0.0, above, np.zeros(3)) is None
    assert interval(0.5, np.array([0.5, 0.5])).low == 0.5
