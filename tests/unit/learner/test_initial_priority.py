from dataclasses import replace

import numpy as np
import pytest
import torch

from distrl.learner.initial_priority import build
from distrl.types import Outcome

RANKED = {"newcomers": "ranked", "priority_exponent": 1.0}


def valued(trajectory, policy):
    """The trajectory as a worker records it that has a critic."""
    values = policy.values.detach()[:, 0].sigmoid().tolist()
    steps = [replace(s, decision=replace(s.decision, value=v)) for s, v in zip(trajectory.steps, values, strict=True)]
    return replace(trajectory, steps=tuple(steps))


def test_new_trajectories_get_the_highest_priority_unless_they_are_ranked(toy):
    assert build(toy.learner().config) is None
    assert build(toy.learner(replay=RANKED).config) is not None


LESS = {"priority_failure_weight": 0.25}


@pytest.mark.parametrize(
    "algorithm", [LESS, {**LESS, "retrace": False}, {**LESS, "failure_weight": 0.0}, {"name": "digirl"}]
)
def test_it_is_the_priority_that_the_learner_would_give_under_the_weights_that_played(toy, algorithm):
    policy = toy.TablePolicy()
    with torch.no_grad():
        policy.values[:, 0] = torch.tensor([-0.5, 0.3, 1.1])
    learner = toy.learner(policy, algorithm=algorithm, replay=RANKED)
    rng = np.random.default_rng(0)
    played = [valued(toy.play(policy.weights(), 0, rng, f"{i}"), policy) for i in range(6)]
    played[0] = replace(played[0], outcome=Outcome("success"))
    priority = build(learner.config)
    predicted = [priority(trajectory) for trajectory in played]
    found = learner.step(toy.uniform(played), toy.source).priorities
    assert predicted == pytest.approx([found[trajectory.id] for trajectory in played], rel=1e-4)


def test_an_unexpected_success_ranks_above_an_expected_failure(toy):
    learner = toy.learner(replay=RANKED)
    with torch.no_grad():
        learner.policy.values[:, 0] = -2.0
    priority = build(learner.config)
    failure = valued(toy.scripted("a", (0, 0, 0), "failure"), learner.policy)
    assert priority(replace(failure, outcome=Outcome("success"))) > 1.2 * priority(failure)


def test_a_value_of_zero_or_one_gives_a_finite_priority(toy):
    priority = build(toy.learner(replay=RANKED).config)
    episode = toy.scripted("a", (0, 0, 0), "success")
    sure = replace(episode, steps=tuple(replace(s, decision=replace(s.decision, value=1.0)) for s in episode.steps))
    assert np.isfinite([priority(episode), priority(sure)]).all()
