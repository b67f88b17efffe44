"""The whole loop on a world small enough to know the answer."""

from dataclasses import replace

import numpy as np
import pytest

from distrl.replay.buffer import ReplayBuffer
from distrl.types import Outcome


def train(toy, *, steps, lag, seed=0, **settings):
    """Asynchronous training by hand: who plays has weights that are `lag` versions old."""
    learner = toy.learner(**settings)
    rng = np.random.default_rng(seed)
    replay = ReplayBuffer(learner.config.replay, np.random.default_rng(seed + 1))
    published = [(0, learner.policy.weights())]
    reports = []
    for step in range(steps):
        version, weights = published[max(0, len(published) - 1 - lag)]
        for i in range(4):
            replay.insert(toy.play(weights, version, rng, f"{step}-{i}"))
        report = learner.step(replay.sample(8), toy.source)
        replay.update(list(report.priorities), list(report.priorities.values()))
        published.append((learner.version, learner.policy.weights()))
        reports.append(report)
    return learner, reports


def success_rate(learner, toy):
    return float(np.prod([learner.policy.probabilities()[i, b] for i, b in enumerate(toy.RIGHT)]))


@pytest.mark.parametrize("lag", [0, 5, 20])
def test_success_rises_though_the_players_lag_behind(toy, lag):
    learner, reports = train(toy, steps=150, lag=lag, replay={"capacity": 200})
    assert success_rate(toy.learner(), toy) < 0.05
    assert success_rate(learner, toy) > 0.6
    assert max(r.metrics["lag/p50"] for r in reports) >= lag


def test_the_critic_learns_the_discounted_chance_of_success(toy):
    """One success for each failure, actions as likely as when they were played: V is 1/2, earlier ones discounted."""
    learner = toy.learner(learner={"learning_rate": 1e-9})
    rng = np.random.default_rng(0)
    played = [toy.play(learner.policy.weights(), 0, rng, f"{i}") for i in range(8)]
    outcomes = [replace(t, outcome=Outcome("success" if i % 2 else "failure")) for i, t in enumerate(played)]
    for _ in range(100):
        learner.step(toy.uniform(outcomes), toy.source)
    values, forecasts = learner.policy.values.detach().sigmoid().unbind(1)
    np.testing.assert_allclose(values.numpy(), [0.5 * 0.9**2, 0.5 * 0.9, 0.5], atol=0.01)
    np.testing.assert_allclose(forecasts.numpy(), 0.5, atol=0.01)


def test_training_twice_with_one_seed_gives_the_same_weights(toy):
    first, _ = train(toy, steps=15, lag=3)
    second, _ = train(toy, steps=15, lag=3)
    np.testing.assert_array_equal(first.policy.weights()["logits"], second.policy.weights()["logits"])
