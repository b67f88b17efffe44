"""Losses over steps. Every tensor has shape [S]; `weight` is a constant that holds the division by the count."""

from __future__ import annotations

import math

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

Tensor = torch.Tensor


def truncated_ratio(log_rho: Tensor, *, ratio_clip: float) -> Tensor:
    """min(ρ, ρ̄) without gradient and without overflow: one lucky old action cannot blow up a step."""
    return torch.minimum(log_rho.detach().clamp(max=60.0).exp(), torch.full_like(log_rho, ratio_clip))


def weigh_failures(advantage: Tensor, *, failure_weight: float) -> Tensor:
    """Negative advantages count `failure_weight` times as much as positive ones."""
    return torch.where(advantage < 0, failure_weight * advantage, advantage)


def blame_locally(advantage: Tensor, td_error: Tensor) -> Tensor:
    """A negative advantage becomes the step's own TD error, or 0 where the critic saw the chance rise: what went wrong
    later is not the fault of the steps before. Positive ones stay: a success needed all of its steps."""
    return torch.where(advantage < 0, td_error.clamp(max=0.0), advantage)


def within_trust(advantage: Tensor, log_rho: Tensor, *, trust: float | None) -> Tensor:
    """0 where a step that went well is already more than `trust` likelier than when it was played (PPO's clip):
    repeating it only makes the policy surer of what it has seen. None: no limit."""
    if trust is None:
        return advantage
    learned = (advantage > 0) & (log_rho.detach() > math.log1p(trust))
    return torch.where(learned, 0.0, advantage)


def clipped_surrogate(
    logprob: Tensor, behaviour_logprob: Tensor, weight: Tensor, *, clip: float, dual_clip: float
) -> Tensor:
    """−Σ min(ρ·w, clip(ρ, 1−ε, 1+ε)·w): PPO, with the gradient through ρ. `weight` has the sign of the advantage.

    The minimum bounds nothing where w < 0 and ρ is large: an old action that failed and became likely since would
    blow up the step. There the objective is not let below `dual_clip`·w (dual-clip PPO).
    """
    weight = weight.detach()
    ratio = (logprob - behaviour_logprob.detach()).clamp(max=20.0).exp()
    objective = torch.minimum(ratio * weight, ratio.clamp(1.0 - clip, 1.0 + clip) * weight)
    return -torch.where(weight < 0, torch.maximum(objective, dual_clip * weight), objective).sum()


def outside_clip(log_rho: Tensor, weight: Tensor, *, clip: float, dual_clip: float) -> Tensor:
    """True where `clipped_surrogate` gives no gradient although the step has a weight."""
    ratio = log_rho.detach().clamp(max=20.0).exp()
    upwards = (weight > 0) & (ratio > 1.0 + clip)
    return upwards | ((weight < 0) & ((ratio < 1.0 - clip) | (ratio > dual_clip)))


def policy_loss(logprob: Tensor, weight: Tensor) -> Tensor:
    """−Σ weight·log π(a|s); for A-RIDE the weight is w·min(ρ, ρ̄)·A / count, sign of the advantage kept."""
    return -(weight.detach() * logprob).sum()


def entropy_loss(entropy: Tensor, weight: Tensor) -> Tensor:
    """−Σ weight·H(π(·|s)): entropy of the token distributions, not the surprisal of the tokens taken."""
    return -(weight.detach() * entropy).sum()


def value_loss(logit: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """Binary cross-entropy against a soft target within [0, 1]."""
    each = binary_cross_entropy_with_logits(logit, target.detach(), reduction="none")
    return (weight.detach() * each).sum()
