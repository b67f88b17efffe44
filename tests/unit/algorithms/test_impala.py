from dataclasses import replace

import numpy as np
import torch
from batches import LENGTHS, algorithm, on_policy, random_batch, random_estimates, rows


def slow(batch, estimates, settings):
    """Per trajectory: V-trace targets by the printed sum, advantages, ratios."""
    for n, length in enumerate(LENGTHS):
        value = 1 / (1 + np.exp(-rows(estimates.value_logit)[n]))
        rho = np.exp(rows(estimates.logprob)[n] - batch.behaviour_logprob[n, :length].double().numpy())
        ratio, trace = np.minimum(1.0, rho), settings.trace_decay * np.minimum(1.0, rho)
        reward = -settings.invalid_penalty * batch.invalid[n, :length].double().numpy()
        reward[-1] += batch.outcome[n].item()
        td_error = reward + settings.discount * np.append(value[1:], 0.0) - value
        target = [
            value[t]
            + sum(settings.discount ** (k - t) * np.prod(trace[t:k]) * ratio[k] * td_error[k] for k in range(t, length))
            for t in range(length)
        ]
        yield np.array(target), reward + settings.discount * np.append(target[1:], 0.0) - value, ratio


def test_targets_and_weights_equal_slow_ones_written_from_the_page():
    batch, estimates, built = random_batch(), random_estimates(), algorithm("impala")
    targets = built.plan(batch, estimates).targets
    for n, (target, advantage, ratio) in enumerate(slow(batch, estimates, built.settings)):
        np.testing.assert_allclose(rows(targets.value)[n], target.clip(0, 1), rtol=1e-4, atol=1e-6)
        expected = batch.importance[n].item() * ratio * advantage / sum(LENGTHS)
        np.testing.assert_allclose(rows(targets.policy_weight)[n], expected, rtol=1e-4, atol=1e-7)


def test_an_action_that_the_policy_gave_up_says_little_about_its_own_state():
    """Where Retrace would still move the target at t by δ_t in full, V-trace moves it by ρ_t·δ_t."""
    batch = replace(random_batch(), outcome=torch.ones(4), invalid=torch.zeros(4, 4, dtype=torch.bool))
    liked = on_policy(batch, replace(random_estimates(), value_logit=torch.zeros(10)))
    given_up = replace(liked, logprob=liked.logprob.detach() - 5.0)
    step = 3  # the only step of the second trajectory
    assert algorithm("impala").plan(batch, liked).targets.value[step] == 1.0
    assert algorithm("impala").plan(batch, given_up).targets.value[step] < 0.51
    assert algorithm("a_ride").plan(batch, given_up).targets.value[step] == 1.0


def test_entropy_is_part_of_the_loss_and_v_traj_is_not():
    batch, estimates, built = random_batch(), random_estimates(), algorithm("impala")
    sum(built.losses(built.plan(batch, estimates).targets, estimates).values()).backward()
    assert (estimates.entropy.grad < 0).all()
    assert estimates.trajectory_value_logit.grad is None
