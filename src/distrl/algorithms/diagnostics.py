"""What every algorithm says about a plan, under the same names; docs/metrics.md explains each figure."""

from __future__ import annotations

import torch

from distrl.algorithms.base import Batch, Estimates

Tensor = torch.Tensor


def describe(
    batch: Batch,
    estimates: Estimates,
    *,
    learned: Tensor,
    advantage: Tensor | None = None,
    clipped: Tensor | None = None,
) -> dict[str, float]:
    """`estimates` padded. `learned`: steps that move the policy; `clipped`: steps whose ratio was cut off. [N, T]."""
    log_rho = (estimates.logprob - batch.behaviour_logprob)[batch.mask]
    return {
        **ratios(log_rho),
        **({} if clipped is None else {"ratio/clipped": clipped[batch.mask].double().mean().item()}),
        **({} if advantage is None else distribution("advantage", advantage[learned])),
        "policy/entropy": estimates.entropy[batch.mask].mean().item(),
        "sample/steps_learned": learned[batch.mask].double().mean().item(),
        "sample/left_out": (~learned.any(dim=1)).double().mean().item(),
    }


def calibrate(batch: Batch, value: Tensor, td_error: Tensor) -> dict[str, float]:
    """How good V is, for algorithms that train it. [N, T]."""
    outcome = batch.spread(batch.outcome)
    return {
        "value/mean": value[batch.mask].mean().item(),
        "value/brier": (value - outcome)[batch.mask].square().mean().item(),
        "value/td_error": td_error[batch.mask].abs().mean().item(),
    }


def calibrate_forecast(batch: Batch, forecast: Tensor) -> dict[str, float]:
    """How good V_traj is at the first step, for algorithms that train it. [N]."""
    return {"trajectory_value/brier": (forecast - batch.outcome).square().mean().item()}


def ratios(log_rho: Tensor) -> dict[str, float]:
    """How far the policy has moved away from those who played. Effective sample size is a share of the steps. [S]."""
    ratio = log_rho.double().clamp(max=60.0).exp()
    return {
        "ratio/mean": ratio.mean().item(),
        "ratio/p95": ratio.quantile(0.95).item(),
        "ratio/effective_sample_size": (ratio.sum().square() / ratio.square().sum() / len(ratio)).item(),
    }


def distribution(name: str, values: Tensor) -> dict[str, float]:
    """Mean, deviation and the tails of any figures; nothing of none."""
    if not values.numel():
        return {}
    low, high = values.double().quantile(torch.tensor([0.1, 0.9], dtype=torch.float64, device=values.device)).tolist()
    return {
        f"{name}/mean": values.mean().item(),
        f"{name}/std": values.std(unbiased=False).item(),
        f"{name}/p10": low,
        f"{name}/p90": high,
    }
