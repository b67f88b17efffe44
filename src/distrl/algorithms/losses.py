"""Losses over steps. Every tensor has shape [S]; `weight` is a constant that holds the division by the count."""

from __future__ import annotations

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

Tensor = torch.Tensor


def truncated_ratio(log_rho: Tensor, *, ratio_clip: float) -> Tensor:
    """min(ρ, ρ̄) without gradient and without overflow: one lucky old action cannot blow up a step."""
    return torch.minimum(log_rho.detach().clamp(max=60.0).exp(), torch.full_like(log_rho, ratio_clip))


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
