"""Smoothing, and what is read off a curve."""

from __future__ import annotations

import numpy as np
import pytest

from distrl.bench.learning.curves import Band, against_count, against_time, balanced, first_reach, last, stability
from distrl.bench.learning.record import Episodes


def played(seconds, success, template=None) -> Episodes:
    template = np.zeros(len(seconds)) if template is None else template
    return Episodes(np.array(seconds, float), np.array(success, float), np.array(template, np.int64))


def test_every_template_counts_the_same_however_often_it_was_played():
    episodes = played(np.arange(12), [1] * 2 + [0] * 10, [0] * 2 + [1] * 10)
    assert balanced(episodes, np.ones(12, bool)) == 0.5


def test_a_point_sees_only_what_ended_in_the_window_before_it():
    episodes = played(np.arange(40), [0] * 20 + [1] * 20)
    curve = against_time(episodes, np.array([9.0, 19.0, 24.0, 39.0]), window_s=10)
    np.testing.assert_allclose(curve, [0.0, 0.0, 0.5, 1.0])


def test_where_too_little_was_played_there_is_no_point():
    episodes = played([1.0, 2.0], [1, 1])
    assert np.isnan(against_time(episodes, np.array([2.0]), 10)).all()
    assert np.isnan(against_count(played(np.arange(20), np.ones(20)), np.array([21.0]), 10)).all()


def test_against_trajectories_time_does_not_matter():
    slow, fast = (played(pace * np.arange(30), [0] * 15 + [1] * 15) for pace in (100, 1))
    grid = np.array([10.0, 20.0, 30.0])
    np.testing.assert_allclose(against_count(slow, grid, 10), against_count(fast, grid, 10))
    np.testing.assert_allclose(against_count(slow, grid, 10), [0.0, 0.5, 1.0])


def test_a_band_is_over_the_runs_that_have_a_point():
    band = Band.over(np.arange(3.0), [np.array([np.nan, 0.2, 0.4]), np.array([np.nan, np.nan, 0.8])])
    np.testing.assert_allclose(band.mean, [np.nan, 0.2, 0.6])
    np.testing.assert_allclose(band.low[1:], [0.2, 0.4])
    np.testing.assert_allclose(band.high[1:], [0.2, 0.8])


def test_the_first_time_at_a_level():
    grid, curve = np.array([1.0, 2.0, 3.0]), np.array([np.nan, 0.5, 0.4])
    assert first_reach(grid, curve, 0.45) == 2.0
    assert first_reach(grid, curve, 0.6) is None
    assert first_reach(grid, curve, 0.0) is None
    assert last(np.array([0.1, 0.3, np.nan])) == 0.3


def test_a_run_that_falls_at_the_end_is_seen_and_one_that_rises_is_stable():
    rising = played(np.linspace(1, 100, 500), np.arange(500) >= 250)
    falling = played(np.linspace(1, 100, 500), np.arange(500) < 250)
    assert stability(rising, 100) == pytest.approx(1.0)
    assert stability(falling, 100) == pytest.approx(0.0)
    assert stability(played([], []), 100) is None
