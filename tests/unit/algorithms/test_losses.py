import pytest
import torch

from distrl.algorithms.losses import (
    blame_locally,
    clipped_surrogate,
    entropy_loss,
    outside_clip,
    policy_loss,
    truncated_ratio,
    value_loss,
    weigh_failures,
)


def test_the_ratio_is_truncated_carries_no_gradient_and_does_not_overflow():
    log_rho = torch.tensor([-2.0, 0.0, 0.3, 1000.0], requires_grad=True)
    ratio = truncated_ratio(log_rho, ratio_clip=1.5)
    assert not ratio.requires_grad
    torch.testing.assert_close(ratio, torch.tensor([-2.0, 0.0, 0.3, 100.0]).exp().clamp(max=1.5))


def test_the_policy_loss_pushes_each_log_probability_by_its_weight_and_sign():
    logprob = torch.tensor([-1.0, -2.0, -3.0], requires_grad=True)
    weight = torch.tensor([0.5, 0.0, -0.25])
    policy_loss(logprob, weight).backward()
    torch.testing.assert_close(logprob.grad, -weight)


@pytest.mark.parametrize("target", [0.0, 0.3, 1.0])
def test_the_value_loss_pulls_the_probability_towards_its_soft_target(target):
    logit = torch.tensor([0.7], requires_grad=True)
    value_loss(logit, torch.tensor([target]), torch.tensor([2.0])).backward()
    torch.testing.assert_close(logit.grad, 2.0 * (torch.sigmoid(logit.detach()) - target))


def test_the_entropy_bonus_flattens_a_distribution_whichever_action_was_taken():
    logits = torch.tensor([2.0, 0.0, 0.0], requires_grad=True)
    log_probabilities = torch.log_softmax(logits, 0)
    entropy = -(log_probabilities.exp() * log_probabilities).sum()
    entropy_loss(entropy[None], torch.ones(1)).backward()
    assert logits.grad is not None
    assert logits.grad[0] > 0 > logits.grad[1]  # descent lowers the likely one and raises the others
    torch.testing.assert_close(logits.grad[1], logits.grad[2])


RATIOS = torch.tensor([0.5, 1.0, 1.1, 1.5, 0.5, 1.0, 1.5, 4.0])
WEIGHTS = torch.tensor([1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0])


def test_the_clipped_surrogate_by_hand():
    """ε = 0.2. A success counts up to 1.2, a failure from 0.8 on, and a failure no more than three times."""
    each = [
        -clipped_surrogate(RATIOS[i].log(), torch.tensor(0.0), WEIGHTS[i], clip=0.2, dual_clip=3.0).item()
        for i in range(8)
    ]
    assert each == pytest.approx([0.5, 1.0, 1.1, 1.2, -0.8, -1.0, -1.5, -3.0])


def test_the_surrogate_s_gradient_is_the_ratio_times_the_weight_and_nothing_where_it_is_clipped():
    logprob = (RATIOS.log() - 2.0).requires_grad_()
    clipped_surrogate(logprob, torch.full((8,), -2.0), WEIGHTS, clip=0.2, dual_clip=3.0).backward()
    expected = torch.tensor([-0.5, -1.0, -1.1, 0.0, 0.0, 1.0, 1.5, 0.0])
    torch.testing.assert_close(logprob.grad, expected)
    outside = outside_clip(RATIOS.log(), WEIGHTS, clip=0.2, dual_clip=3.0)
    assert outside.tolist() == (expected == 0).tolist()


def test_the_surrogate_does_not_overflow():
    logprob = torch.tensor([1000.0, 1000.0], requires_grad=True)
    loss = clipped_surrogate(logprob, torch.zeros(2), torch.tensor([1.0, -1.0]), clip=0.2, dual_clip=3.0)
    loss.backward()
    assert loss.item() == pytest.approx(-1.2 + 3.0)
    assert logprob.grad.tolist() == [0.0, 0.0]


def test_failures_are_weighed_and_successes_left_alone():
    weighed = weigh_failures(torch.tensor([0.5, 0.0, -2.0]), failure_weight=0.25)
    assert weighed.tolist() == [0.5, 0.0, -0.5]


def test_blame_stays_with_the_step_after_which_the_chance_fell():
    advantage = torch.tensor([0.4, -0.3, -0.3, -0.3])
    td_error = torch.tensor([-0.2, -0.1, 0.2, -0.5])
    assert blame_locally(advantage, td_error).tolist() == pytest.approx([0.4, -0.1, 0.0, -0.5])
