import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distrl.config import PacingConfig
from distrl.replay.pacing import Backlog, Pacing


def pacing(max_lag, trajectories_per_version=4.0):
    return Pacing(PacingConfig(max_lag=max_lag, trajectories_per_version=trajectories_per_version))


def test_without_a_limit_nobody_is_held():
    assert pacing(None).may_start(in_flight=10_000, backlog=10_000)
    assert pacing(None).may_learn(in_flight=10_000, backlog=0)


def test_an_episode_may_start_only_if_it_would_not_be_too_stale_when_its_turn_comes():
    rule = pacing(2)
    for in_flight, backlog in itertools.product(range(20), range(20)):
        versions_until_its_turn = (in_flight + backlog) // 4
        assert rule.may_start(in_flight, backlog) == (versions_until_its_turn <= 2)


def test_zero_is_synchronous_one_version_s_worth_is_played_then_learned_from():
    rule, backlog = pacing(0), Backlog(4.0)
    for _ in range(3):
        started = 0
        while rule.may_start(started, backlog.waiting):
            started += 1
        assert started == 4
        for left in reversed(range(4)):
            assert not rule.may_learn(left + 1, backlog.waiting)
            backlog.inserted()
        assert not rule.may_start(0, backlog.waiting)
        assert rule.may_learn(0, backlog.waiting)
        backlog.learned()


def test_warm_up_holds_nobody_however_small_the_limit():
    rule, backlog = pacing(0), Backlog(4.0, warmup=32)
    for inserted in range(32):
        assert rule.may_start(in_flight=1, backlog=backlog.waiting), inserted
        backlog.inserted()
    assert backlog.waiting == 0.0


def test_learning_from_old_trajectories_gives_no_credit_for_later():
    backlog = Backlog(4.0)
    backlog.learned(100)
    for _ in range(6):
        backlog.inserted()
    assert backlog.waiting == 6.0


@pytest.mark.parametrize("max_lag", [0, 1, 3])
def test_lag_is_bounded_by_the_limit_when_episodes_end_in_the_order_they_began(max_lag):
    """A slow learner and eager workers, by hand: the lag at use, first come first served, never passes the limit."""
    rng = np.random.default_rng(0)
    rule, version, worst = pacing(max_lag), 0, 0
    in_flight: list[int] = []
    waiting: list[int] = []
    for _ in range(5_000):
        if rng.random() < 0.7 and rule.may_start(len(in_flight), len(waiting)):
            in_flight.append(version)
        if rng.random() < 0.6 and in_flight:
            waiting.append(in_flight.pop(0))
        if rng.random() < 0.1 and len(waiting) >= 4:
            used, waiting = waiting[:4], waiting[4:]
            worst = max(worst, *(version - born for born in used))
            version += 1
    assert version > 100
    assert worst == max_lag


@given(
    max_lag=st.integers(0, 5),
    per_version=st.integers(1, 8),
    moves=st.lists(st.tuples(st.sampled_from(["start", "end", "learn"]), st.integers(0, 10_000)), max_size=400),
)
def test_lag_never_exceeds_the_limit_by_more_than_the_versions_made_while_the_episode_was_in_flight(
    max_lag, per_version, moves
):
    """Whoever starts, ends or learns when, in whatever order episodes end: used first come first served."""
    rule, backlog, version = pacing(max_lag, float(per_version)), Backlog(float(per_version)), 0
    in_flight: list[int] = []
    waiting: list[tuple[int, int]] = []  # version it was played with, versions made while it was in flight
    for move, which in moves:
        if move == "start" and rule.may_start(len(in_flight), backlog.waiting):
            in_flight.append(version)
        elif move == "end" and in_flight:
            born = in_flight.pop(which % len(in_flight))
            waiting.append((born, version - born))
            backlog.inserted()
        elif move == "learn" and len(waiting) >= per_version and rule.may_learn(len(in_flight), backlog.waiting):
            used, waiting = waiting[:per_version], waiting[per_version:]
            for born, meanwhile in used:
                assert version - born <= max_lag + meanwhile
            version += 1
            backlog.learned()
