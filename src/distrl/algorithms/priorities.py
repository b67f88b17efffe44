"""Which trajectories deserve to be seen again (DPER), and which to be learned from."""

from __future__ import annotations

import torch

Tensor = torch.Tensor


def step_mean(per_step: Tensor, mask: Tensor) -> Tensor:
    """Mean over the steps of each trajectory, padding left out. [N, T], [N, T] → [N]."""
    return (per_step * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)


def dper(
    td_error: Tensor,
    ratio: Tensor,
    entropy: Tensor,
    mask: Tensor,
    *,
    td_error_weight: float,
    ratio_weight: float,
    entropy_weight: float,
) -> Tensor:
    """p(τ) = w1·mean|δ_t| + w2·mean ρ_t + w3·mean H_t. [N, T] → [N]."""
    return (
        td_error_weight * step_mean(td_error.abs(), mask)
        + ratio_weight * step_mean(ratio, mask)
        + entropy_weight * step_mean(entropy, mask)
    )


def least_surprising(surprise: Tensor, share: float) -> Tensor:
    """True for the ⌊share·N⌋ trajectories with the smallest surprise; at least one is never among them. [N] → [N]."""
    left_out = torch.zeros_like(surprise, dtype=torch.bool)
    count = min(int(share * len(surprise)), len(surprise) - 1)
    left_out[surprise.argsort(stable=True)[:count]] = True
    return left_out


def top(score: Tensor, quantile: float) -> Tensor:
    """True for the trajectories whose score is at or above this quantile; the best always is. [N] → [N]."""
    return score >= torch.quantile(score, quantile)


def uniform(count: int) -> Tensor:
    """The same priority for all: replay then draws uniformly. [N]."""
    return torch.ones(count)
