from dataclasses import replace

import numpy as np
import pytest
import torch
from batches import LENGTHS, algorithm, on_policy, random_batch, random_estimates, rows

from distrl.algorithms.grpo import DUAL_CLIP


def grouped(batch):
    """The first two are of one task that succeeds once in four; the third is alone, the fourth's all failed."""
    std = 3**0.5 / 4
    return replace(batch, group_mean=torch.tensor([0.25, 0.25, 1.0, 0.0]), group_std=torch.tensor([std, std, 0.0, 0.0]))


def test_the_whole_loss_equals_a_slow_one_written_from_the_page():
    batch, estimates, built = grouped(random_batch()), random_estimates(), algorithm("grpo")
    advantage, count, policy = {0: 3**0.5, 1: -1 / 3**0.5}, LENGTHS[0] + LENGTHS[1], 0.0
    for n, a in advantage.items():
        for t in range(LENGTHS[n]):
            rho = np.exp(rows(estimates.logprob)[n][t] - batch.behaviour_logprob[n, t].item())
            objective = min(rho * a, np.clip(rho, 0.8, 1.2) * a)
            objective = max(objective, DUAL_CLIP * a) if a < 0 else objective
            policy -= batch.importance[n].item() * objective / count
    entropy = sum(batch.importance[n].item() * rows(estimates.entropy)[n].sum() for n in range(4)) / sum(LENGTHS)
    losses = built.losses(built.plan(batch, estimates).targets, estimates)
    expected = {"policy": policy, "entropy": -built.settings.entropy_bonus * entropy}
    assert {name: loss.item() for name, loss in losses.items()} == pytest.approx(expected, rel=1e-4)


def test_the_gradient_pushes_the_better_half_of_a_group_up_and_the_worse_half_down():
    batch = grouped(random_batch())
    estimates, built = on_policy(batch, random_estimates()), algorithm("grpo")
    sum(built.losses(built.plan(batch, estimates).targets, estimates).values()).backward()
    better, worse, alone, alike = rows(estimates.logprob.grad)
    assert (better < 0).all()
    assert (worse > 0).all()
    assert (np.concatenate([alone, alike]) == 0).all()


def test_only_trajectories_whose_group_is_divided_are_scored():
    assert algorithm("grpo").worth_scoring(grouped(random_batch())).tolist() == [True, True, False, False]


def test_a_success_that_is_likelier_by_now_than_the_clip_allows_gives_no_gradient():
    batch, built = replace(random_batch(), outcome=torch.ones(4)), algorithm("grpo", entropy_bonus=0.0)
    ahead = on_policy(batch, random_estimates())
    ahead = replace(ahead, logprob=(ahead.logprob.detach() + 0.5).requires_grad_())
    plan = built.plan(batch, ahead)
    sum(built.losses(plan.targets, ahead).values()).backward()
    assert (ahead.logprob.grad == 0).all()
    assert plan.metrics["ratio/clipped"] == 1.0
