from dataclasses import replace

import numpy as np
import pytest
import torch

from distrl.learner.foresight import ranking
from distrl.types import Outcome

RANKED = {"newcomers": "ranked", "priority_exponent": 1.0}


def valued(trajectory, policy):
    """As a player writes it down that has the critic's values, too."""
    values = policy.values.detach()[:, 0].sigmoid().tolist()
    steps = [replace(s, decision=replace(s.decision, value=v)) for s, v in zip(trajectory.steps, values, strict=True)]
    return replace(trajectory, steps=tuple(steps))


def test_newcomers_go_first_unless_they_are_ranked(toy):
    assert ranking(toy.learner().config) is None
    assert ranking(toy.learner(replay=RANKED).config) is not None


LESS = {"priority_failure_weight": 0.25}


@pytest.mark.parametrize(
    "algorithm", [LESS, {**LESS, "retrace": False}, {**LESS, "failure_weight": 0.0}, {"name": "digirl"}]
)
def test_the_rank_is_the_priority_that_the_learner_would_give_under_the_weights_that_played(toy, algorithm):
    policy = toy.TablePolicy()
    with torch.no_grad():
        policy.values[:, 0] = torch.tensor([-0.5, 0.3, 1.1])
    learner = toy.learner(policy, algorithm=algorithm, replay=RANKED)
    rng = np.random.default_rng(0)
    played = [valued(toy.play(policy.weights(), 0, rng, f"{i}"), policy) for i in range(6)]
    played[0] = replace(played[0], outcome=Outcome("success"))
    rank = ranking(learner.config)
    foreseen = [rank(trajectory) for trajectory in played]
    found = learner.step(toy.uniform(played), toy.source).priorities
    assert foreseen == pytest.approx([found[trajectory.id] for trajectory in played], rel=1e-4)


def test_a_success_that_nobody_foresaw_ranks_above_a_failure_that_everybody_did(toy):
    learner = toy.learner(replay=RANKED)
    with torch.no_grad():
        learner.policy.values[:, 0] = -2.0
    rank = ranking(learner.config)
    failure = valued(toy.scripted("a", (0, 0, 0), "failure"), learner.policy)
    assert rank(replace(failure, outcome=Outcome("success"))) > 1.2 * rank(failure)


def test_a_value_of_zero_or_one_has_a_rank_all_the_same(toy):
    rank = ranking(toy.learner(replay=RANKED).config)
    episode = toy.scripted("a", (0, 0, 0), "success")
    sure = replace(episode, steps=tuple(replace(s, decision=replace(s.decision, value=1.0)) for s in episode.steps))
    assert np.isfinite([rank(episode), rank(sure)]).all()
