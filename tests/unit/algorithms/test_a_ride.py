import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from batches import LENGTHS, algorithm, random_batch, random_estimates, rows

from distrl.algorithms.a_ride import ADVANTAGE_FLOOR
from distrl.algorithms.returns import retrace
from distrl.config import load_config
from distrl.errors import UnknownName


def slow_advantages(batch, estimates, settings):
    advantages, targets, td_errors, ratios = [], [], [], []
    for n, length in enumerate(LENGTHS):
        value = 1 / (1 + np.exp(-rows(estimates.value_logit)[n]))
        log_rho = rows(estimates.logprob)[n] - batch.behaviour_logprob[n, :length].double().numpy()
        reward = -settings.invalid_penalty * batch.invalid[n, :length].double().numpy()
        reward[-1] += batch.outcome[n].item()
        discount = np.full(length, settings.discount)
        discount[-1] = 0.0
        next_value = np.append(value[1:], 0.0)
        target = retrace(reward, discount, value, next_value, log_rho, trace_decay=settings.trace_decay)
        targets.append(target)
        advantages.append(reward + discount * np.append(target[1:], 0.0) - value)
        td_errors.append(reward + discount * next_value - value)
        ratios.append(np.minimum(np.exp(log_rho), settings.ratio_clip))
    return advantages, targets, td_errors, ratios


def test_the_whole_loss_equals_a_slow_one_written_from_the_page():
    batch, estimates, built = random_batch(), random_estimates(), algorithm()
    advantages, targets, _, ratios = slow_advantages(batch, estimates, built.settings)
    count, scale = sum(LENGTHS), max(np.concatenate(advantages).std(), ADVANTAGE_FLOOR)
    policy = entropy = value = forecast = 0.0
    for n, length in enumerate(LENGTHS):
        for t in range(length):
            w = batch.importance[n].item() / count
            policy -= w * ratios[n][t] * advantages[n][t] / scale * rows(estimates.logprob)[n][t]
            entropy -= built.settings.entropy_bonus * w * rows(estimates.entropy)[n][t]
            for logits, target in ((estimates.value_logit, targets[n][t]), (None, batch.outcome[n].item())):
                logit = rows(estimates.trajectory_value_logit if logits is None else logits)[n][t]
                p, y = 1 / (1 + math.exp(-logit)), min(1.0, max(0.0, target))
                bce = -w * (y * math.log(p) + (1 - y) * math.log(1 - p))
                value, forecast = (value, forecast + bce) if logits is None else (value + bce, forecast)
    losses = built.losses(built.plan(batch, estimates).targets, estimates)
    expected = {
        "policy": policy,
        "entropy": entropy,
        "value": built.settings.value_weight * value,
        "trajectory_value": built.settings.trajectory_value_weight * forecast,
    }
    assert {name: loss.item() for name, loss in losses.items()} == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("failure_weight", [1.0, 0.25])
def test_priorities_are_dper_over_retrace_errors_truncated_ratios_and_entropy(failure_weight):
    batch, estimates, built = random_batch(), random_estimates(), algorithm(priority_failure_weight=failure_weight)
    _, targets, _, ratios = slow_advantages(batch, estimates, built.settings)
    errors = [targets[n] - 1 / (1 + np.exp(-rows(estimates.value_logit)[n])) for n in range(4)]
    expected = [
        built.settings.priority_td_error_weight * np.where(errors[n] < 0, -failure_weight * errors[n], errors[n]).mean()
        + built.settings.priority_ratio_weight * ratios[n].mean()
        + built.settings.priority_entropy_weight * rows(estimates.entropy)[n].mean()
        for n in range(4)
    ]
    np.testing.assert_allclose(built.plan(batch, estimates).priorities.numpy(), expected, rtol=1e-5)


def test_a_policy_may_dwell_on_what_replay_prefers_while_the_critics_do_not():
    batch, estimates = random_batch(), random_estimates()
    both = algorithm().plan(batch, estimates).targets
    critics = algorithm(corrected="critics").plan(batch, estimates).targets
    importance = batch.spread(batch.importance)[batch.mask]
    torch.testing.assert_close(both.policy_weight, critics.policy_weight * importance)
    torch.testing.assert_close(both.step_weight, critics.step_weight)


def test_what_became_likelier_than_trusted_is_pushed_no_further_and_what_failed_still_is():
    batch, estimates = random_batch(), random_estimates()
    likelier = torch.arange(10) % 2 == 0
    estimates = replace(estimates, logprob=batch.behaviour_logprob[batch.mask] + torch.where(likelier, 0.3, 0.1))
    free = algorithm().plan(batch, estimates).targets
    bound = algorithm(trust=0.2).plan(batch, estimates).targets
    learned = likelier & (free.policy_weight > 0)
    assert learned.any()
    assert (likelier & (free.policy_weight < 0)).any()
    torch.testing.assert_close(bound.policy_weight, torch.where(learned, 0.0, free.policy_weight))
    torch.testing.assert_close(bound.value, free.value)


def test_losses_computed_in_pieces_sum_to_the_whole():
    batch, estimates, built = random_batch(), random_estimates(), algorithm()
    targets = built.plan(batch, estimates).targets
    whole = built.losses(targets, estimates)
    pieces = [built.losses(targets.part(s), estimates.part(s)) for s in (slice(0, 3), slice(3, 10))]
    for name, loss in whole.items():
        torch.testing.assert_close(loss, pieces[0][name] + pieces[1][name])


def test_the_terminal_step_of_every_trajectory_is_learned_from():
    batch, estimates, built = random_batch(), random_estimates(), algorithm()
    sum(built.losses(built.plan(batch, estimates).targets, estimates).values()).backward()
    terminal = batch.terminal[batch.mask]
    assert terminal.sum() == 4
    assert (estimates.logprob.grad[terminal].abs() > 0).all()
    assert (estimates.value_logit.grad[terminal].abs() > 0).all()


def test_a_successful_last_step_is_made_likelier_and_a_failed_one_less_likely():
    batch, estimates, built = random_batch(), random_estimates(), algorithm(invalid_penalty=0.0)
    weight = built.plan(batch, estimates).targets.policy_weight[batch.terminal[batch.mask]]
    assert (torch.sign(weight) == torch.tensor([1.0, -1.0, 1.0, -1.0])).all()


def test_advantages_keep_their_sizes_and_are_not_reduced_to_zero_or_one():
    batch, estimates = random_batch(), random_estimates()
    built = algorithm(ratio_clip=1e9)
    advantages, _, _, ratios = slow_advantages(batch, estimates, built.settings)
    weight = rows(built.plan(batch, estimates).targets.policy_weight)
    implied = np.concatenate([weight[n] / ratios[n] / batch.importance[n].item() for n in range(4)])
    factor = implied / np.concatenate(advantages)
    np.testing.assert_allclose(factor, factor[0], rtol=1e-3)
    assert len(np.unique(implied.round(5))) > 6


def test_retrace_targets_train_the_value_head():
    """With Retrace the critic is pulled towards other numbers, through a gradient that is not zero."""
    gradients = {}
    for name, on in (("retrace", True), ("as played", False)):
        batch, estimates, built = random_batch(), random_estimates(), algorithm(retrace=on)
        sum(built.losses(built.plan(batch, estimates).targets, estimates).values()).backward()
        gradients[name] = estimates.value_logit.grad
    assert (gradients["retrace"].abs() > 0).all()
    assert (gradients["retrace"] - gradients["as played"]).abs().max() > 1e-3


def test_ratios_decide_how_far_credit_travels():
    """The success at the end reaches the first step less when the actions between are ones the policy gave up."""
    batch, estimates, built = random_batch(), random_estimates(), algorithm(normalise_advantage=False)
    batch = replace(batch, outcome=torch.ones(4), invalid=torch.zeros_like(batch.invalid))
    estimates = replace(estimates, value_logit=torch.full((10,), -2.0))
    liked = replace(estimates, logprob=batch.behaviour_logprob[batch.mask])
    given_up = replace(liked, logprob=liked.logprob - torch.tensor([0, 0, 0, 0, 0, 0, 5.0, 0, 0, 0]))
    first = 4  # the first step of the third trajectory; its third action is the one given up
    on_policy = built.plan(batch, liked).targets
    off_policy = built.plan(batch, given_up).targets
    assert on_policy.value[first] > off_policy.value[first] + 0.2
    assert on_policy.policy_weight[first] > 2 * off_policy.policy_weight[first]


def test_without_retrace_the_advantage_is_one_step_and_the_target_the_return_as_played():
    batch, estimates = random_batch(), random_estimates()
    built = algorithm(retrace=False, normalise_advantage=False, ratio_clip=1e9)
    _, _, td_errors, ratios = slow_advantages(batch, estimates, built.settings)
    targets = built.plan(batch, estimates).targets
    for n in range(4):
        expected = batch.importance[n].item() * ratios[n] * td_errors[n] / sum(LENGTHS)
        np.testing.assert_allclose(rows(targets.policy_weight)[n], expected, rtol=1e-4)
    clean = replace(batch, invalid=torch.zeros_like(batch.invalid))
    played = rows(built.plan(clean, estimates).targets.value)
    np.testing.assert_allclose(played[2], 0.9 ** np.array([3, 2, 1, 0]), rtol=1e-5)


def test_one_lucky_old_action_cannot_blow_up_a_step():
    batch, estimates, built = random_batch(), random_estimates(), algorithm(normalise_advantage=False)
    lucky = replace(batch, behaviour_logprob=batch.behaviour_logprob - 200.0 * batch.terminal)
    plan = built.plan(lucky, estimates)
    assert plan.targets.policy_weight.abs().max() < 2 * built.settings.ratio_clip / sum(LENGTHS)
    assert torch.isfinite(plan.priorities).all()
    assert plan.metrics["ratio/clipped"] >= 0.4


def test_text_that_is_no_action_costs_its_step():
    batch, estimates = random_batch(), random_estimates()
    clean = replace(batch, invalid=torch.zeros_like(batch.invalid))
    dirty = replace(clean, invalid=torch.zeros_like(batch.invalid).index_fill(0, torch.tensor([1]), True) & batch.mask)
    built = algorithm(normalise_advantage=False)
    step = 3  # the only step of the second trajectory
    before = built.plan(clean, estimates).targets.policy_weight[step]
    after = built.plan(dirty, estimates).targets.policy_weight[step]
    assert after < before < 0


def test_the_filter_leaves_the_foreseen_out_of_the_policy_loss_but_not_out_of_the_critics():
    batch, estimates = random_batch(), random_estimates()
    forecast = torch.zeros(10)
    forecast[[0, 3, 4, 8]] = torch.tensor([3.0, 2.0, -3.0, -2.0])  # of 1, 0, 1, 0: the first and the last foreseen
    targets = algorithm(trajectory_filter=0.5).plan(batch, replace(estimates, trajectory_value_logit=forecast)).targets
    learned = [bool((row != 0).all()) for row in rows(targets.policy_weight)]
    ignored = [bool((row == 0).all()) for row in rows(targets.policy_weight)]
    assert learned == [False, True, True, False]
    assert ignored == [True, False, False, True]
    assert (targets.step_weight > 0).all()


def test_small_advantages_are_not_blown_up_by_normalising():
    batch, estimates = random_batch(), random_estimates()
    batch = replace(batch, outcome=torch.zeros(4), invalid=torch.zeros_like(batch.invalid))
    foreseen = replace(estimates, value_logit=torch.full((10,), -8.0))
    assert algorithm().plan(batch, foreseen).targets.policy_weight.abs().max() < 0.01


def test_entropy_in_the_loss_is_the_policy_s_own_and_not_the_surprisal_of_what_was_taken():
    batch, estimates, built = random_batch(), random_estimates(), algorithm()
    targets = built.plan(batch, estimates).targets
    unlikely = replace(estimates, logprob=estimates.logprob.detach() - 5.0)
    assert built.losses(targets, unlikely)["entropy"] == built.losses(targets, estimates)["entropy"]


def test_an_unknown_algorithm_is_named_with_the_nearest():
    with pytest.raises(UnknownName, match="a_ride"):
        load_config("quickstart", ["algorithm.name=a_rid"])
