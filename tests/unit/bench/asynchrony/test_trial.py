"""Small fleets on the virtual clock, through the real worker, host, spool and pacing."""

from __future__ import annotations

import pytest

from distrl.bench.asynchrony.fairness import cohort, ks_distance, ks_limit95
from distrl.bench.asynchrony.figures import RunPair, asynchronous_rate, rounds, row, synchronous_rate
from distrl.bench.asynchrony.trial import AsyncTrial, play
from distrl.runtime.clock import run_virtually


def played(folder, *, profile="paper", devices=4, max_lag=None, seconds=40.0, learner_s=5.0, seed=0):
    trial = AsyncTrial(profile, devices, seed, scale=0.02, think_s=0.5, learner_s=learner_s, max_lag=max_lag)
    return run_virtually(lambda loop: play(trial, folder / f"{profile}-{max_lag}-{seed}", seconds))


def test_devices_never_wait_without_a_barrier(tmp_path):
    run = played(tmp_path).timeline
    assert asynchronous_rate(run).efficiency > 0.99
    assert run.busy_fraction > 0.95


def test_with_a_barrier_rounds_are_whole_and_nearly_perfect(tmp_path):
    run = played(tmp_path, max_lag=0).timeline
    assert len(rounds(run)) >= 2
    assert all(each.episodes == 4 for each in rounds(run))
    assert all(episode.lag == 0 for episode in run.episodes)
    assert 0.95 < synchronous_rate(run).efficiency <= 1.0


def test_with_equal_episodes_both_are_equally_fast(tmp_path):
    pair = RunPair(
        played(tmp_path, profile="homogeneous").timeline, played(tmp_path, profile="homogeneous", max_lag=0).timeline
    )
    found = row("homogeneous", 4, [pair])
    assert 0.95 < found["ratio"] < 1.1
    assert found["ceiling"] == pytest.approx(1.02, abs=0.005)


def test_two_runs_with_one_seed_are_the_same_and_with_another_they_are_not(tmp_path):
    first, again = played(tmp_path / "a", seconds=15.0), played(tmp_path / "b", seconds=15.0)
    assert first.timeline.episodes == again.timeline.episodes
    assert played(tmp_path / "c", seconds=15.0, seed=1).timeline.episodes != first.timeline.episodes


def test_both_kinds_play_the_same_tasks(tmp_path):
    """In the order in which they were leased, as far as the slower one comes."""
    free, held = (played(tmp_path, max_lag=lag, seconds=20.0).timeline for lag in (None, 0))
    lengths = [[e.own_s for e in sorted(run.episodes, key=lambda e: e.started_at)] for run in (free, held)]
    first = min(len(one) for one in lengths) // 2
    assert first >= 4
    assert sorted(lengths[0][:4]) == sorted(lengths[1][:4])


def test_pacing_starves_no_slow_task(tmp_path):
    """With max_lag holding the fleet, what is trained on lasts as long as what was let in."""
    run = played(tmp_path, devices=8, max_lag=1, seconds=600.0, learner_s=500.0)
    assert run.timeline.busy_fraction < 0.7  # they are held
    admitted, trained = cohort(run)
    assert len(admitted) > 50
    assert ks_distance(admitted, trained) < ks_limit95(len(admitted), len(trained))


def test_the_distance_of_distributions_is_that_of_kolmogorov_and_smirnov():
    assert ks_distance([1, 2, 3, 4], [1, 2, 3, 4]) == 0.0
    assert ks_distance([1, 2, 3, 4], [3, 4, 5, 6]) == 0.5
    assert ks_distance([1, 1, 1], [2]) == 1.0
