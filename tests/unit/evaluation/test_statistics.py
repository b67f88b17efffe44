import math

import numpy as np
import pytest

from distrl.evaluation.statistics import Z95, Interval, difference_ci95, paired_ratio_ci95, ratio_ci95, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_newcombes_printed_limits(successes, n, low, high):
    assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_limits_solve_the_score_equation():
    for successes, n in [(3, 11), (60, 128), (1, 2)]:
        for limit in wilson(successes, n):
            assert abs(successes / n - limit) == pytest.approx(Z95 * math.sqrt(limit * (1 - limit) / n))


def test_wilson_knows_nothing_without_trials_and_never_leaves_the_unit_interval():
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(5, 5)[1] == 1.0
    assert wilson(0, 5)[0] == 0.0


def paired(both, gained, lost, neither):
    before = [True] * both + [False] * gained + [True] * lost + [False] * neither
    after = [True] * both + [True] * gained + [False] * lost + [False] * neither
    return before, after


def test_the_paired_difference_gives_newcombes_printed_limits():
    interval = difference_ci95(*paired(36, 12, 2, 0))
    assert interval.estimate == pytest.approx(0.2)
    assert (interval.low, interval.high) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_the_paired_difference_is_antisymmetric():
    there = difference_ci95(*paired(20, 12, 2, 16))
    back = difference_ci95(*reversed(paired(20, 12, 2, 16)))
    assert (back.estimate, back.low, back.high) == pytest.approx((-there.estimate, -there.high, -there.low))


def test_agreement_between_the_tasks_narrows_the_interval():
    def width(cells):
        interval = difference_ci95(*paired(*cells))
        return interval.high - interval.low

    assert width((50, 10, 0, 40)) < width((25, 35, 25, 15))


def test_the_interval_of_a_difference_of_few_tasks_is_wide_even_when_all_agree():
    interval = difference_ci95([False] * 5, [True] * 5)
    assert interval.estimate == 1.0
    assert interval.low < 0.8
    assert difference_ci95([], []) == Interval(0.0, -1.0, 1.0)


def test_the_paired_interval_covers_the_truth_about_95_times_in_100():
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2_000):
        skill = rng.random(64)  # hard tasks are hard both times
        before, after = rng.random(64) < 0.8 * skill, rng.random(64) < 0.8 * skill + 0.2
        interval = difference_ci95(before.tolist(), after.tolist())
        hits += interval.low <= 0.2 <= interval.high
    assert 0.935 < hits / 2_000 < 0.985


def test_lists_of_different_length_are_not_paired():
    with pytest.raises(ValueError, match="Paired"):
        difference_ci95([True], [])


def test_excluding_zero_works_on_both_sides():
    assert Interval(0.2, 0.1, 0.3).excludes_zero
    assert Interval(-0.2, -0.3, -0.1).excludes_zero
    assert not Interval(0.1, -0.1, 0.3).excludes_zero


def test_a_ratio_of_means_has_a_seeded_interval_around_it():
    rng = np.random.default_rng(0)
    fast, slow = rng.normal(24.0, 2.0, 40), rng.normal(10.0, 1.0, 40)
    interval = ratio_ci95(fast, slow, seed=3)
    assert interval == ratio_ci95(fast, slow, seed=3)
    assert interval.estimate == pytest.approx(fast.mean() / slow.mean())
    assert 2.2 < interval.low < interval.estimate < interval.high < 2.6
    with pytest.raises(ValueError, match="at least one"):
        ratio_ci95([], [1.0], seed=0)


def test_what_slows_a_turn_down_for_both_does_not_widen_the_interval_of_their_ratio():
    speed = np.random.default_rng(0).uniform(50.0, 500.0, 8)
    together = paired_ratio_ci95(0.9 * speed, speed, seed=1)
    assert together.low == pytest.approx(0.9)
    assert together.high == pytest.approx(0.9)
    assert ratio_ci95(0.9 * speed, speed, seed=1).high > 1.0
    with pytest.raises(ValueError, match="Paired turns"):
        paired_ratio_ci95([1.0], [], seed=0)
