from dataclasses import replace

import numpy as np
import torch
from batches import LENGTHS, algorithm, random_batch, random_estimates, rows


def slow_advantages(batch, estimates, settings):
    """A_step = λ^{H−h}·R + (1 − λ^{H−h}·R)·(V_step(s_{h+1}) + r_h − V_step(s_h)), written from the page."""
    advantages = []
    for n, length in enumerate(LENGTHS):
        value = 1 / (1 + np.exp(-rows(estimates.value_logit)[n]))
        outcome = batch.outcome[n].item()
        advantage = []
        for h in range(1, length + 1):
            reward = (outcome if h == length else 0.0) - settings.invalid_penalty * batch.invalid[n, h - 1].item()
            following = value[h] if h < length else 0.0
            trust = settings.outcome_decay ** (length - h) * outcome
            advantage.append(trust + (1 - trust) * (following + reward - value[h - 1]))
        advantages.append(np.array(advantage))
    return advantages


def test_steps_are_learned_where_the_advantage_exceeds_one_over_the_horizon():
    batch, estimates, built = random_batch(), random_estimates(), algorithm("digirl", instruction_filter=0.0)
    advantages = slow_advantages(batch, estimates, built.settings)
    learned = [advantages[n] > 1 / batch.horizon[n].item() for n in range(4)]
    count = sum(int(row.sum()) for row in learned)
    assert 0 < count < sum(LENGTHS)
    weight = rows(built.plan(batch, estimates).targets.policy_weight)
    for n in range(4):
        np.testing.assert_allclose(weight[n], learned[n] * batch.importance[n].item() / count, rtol=1e-5)


def test_only_trajectories_that_did_better_than_the_instruction_promised_are_learned_from():
    """R − V_instruct: the first success was certain, the second a surprise."""
    batch, estimates = random_batch(), random_estimates()
    forecast = torch.zeros(10)
    forecast[[0, 3, 4, 8]] = torch.tensor([4.0, 0.0, -4.0, 0.0])
    estimates = replace(estimates, trajectory_value_logit=forecast)
    for quantile, kept in ((0.9, [False, False, True, False]), (0.5, [True, False, True, False])):
        weight = rows(algorithm("digirl", instruction_filter=quantile).plan(batch, estimates).targets.policy_weight)
        assert [bool((row > 0).any()) for row in weight] == kept


def test_no_ratio_a_step_of_an_old_policy_teaches_as_much_as_one_of_the_present():
    batch, estimates, built = random_batch(), random_estimates(), algorithm("digirl")
    older = replace(batch, behaviour_logprob=batch.behaviour_logprob - 3.0 * batch.mask)
    torch.testing.assert_close(
        built.plan(batch, estimates).targets.policy_weight, built.plan(older, estimates).targets.policy_weight
    )


def test_both_critics_learn_the_outcome_of_every_trajectory():
    batch, estimates, built = random_batch(), random_estimates(), algorithm("digirl", instruction_filter=0.9)
    targets = built.plan(batch, estimates).targets
    outcomes = batch.spread(batch.outcome)[batch.mask]
    torch.testing.assert_close(targets.value, outcomes)
    sum(built.losses(targets, estimates).values()).backward()
    for gradient in (estimates.value_logit.grad, estimates.trajectory_value_logit.grad):
        assert (torch.sign(gradient) == 1 - 2 * outcomes).all()


def test_an_episode_of_one_step_that_succeeded_is_learned_from():
    batch = replace(random_batch(), outcome=torch.ones(4))
    weight = algorithm("digirl", instruction_filter=0.0).plan(batch, random_estimates()).targets.policy_weight
    assert weight[3] > 0
