import pytest
import torch

from distrl.algorithms.losses import entropy_loss, policy_loss, truncated_ratio, value_loss


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
