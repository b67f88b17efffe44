"""Returns, targets and advantages: pure functions on one trajectory [T] (numpy) or a padded batch [N, T] (torch).

In a batch, padding has `discount` 0 and zeros elsewhere, so that nothing flows out of it.
"""

from __future__ import annotations

import numpy as np
import torch

from distrl.types import Floats

Tensor = torch.Tensor


def retrace(
    reward: Floats, discount: Floats, value: Floats, next_value: Floats, log_rho: Floats, *, trace_decay: float
) -> Floats:
    """Retrace targets for V. Every array has shape [T]; `discount` is 0 where the episode ends.

        V_ret(s_t) = V(s_t) + Σ_{k≥t} γ^{k−t} · (Π_{i=t+1..k} c_i) · δ_k,   c_i = λ·min(1, ρ_i)

    The ratio of a_t itself is no factor of the target at t: the product begins at t+1. As a recursion,
    Δ_t = δ_t + γ_t·c_{t+1}·Δ_{t+1}.
    """
    trace = trace_decay * np.exp(np.minimum(0.0, log_rho))  # min(1, ρ) without overflow
    td_error = reward + discount * next_value - value
    correction = np.zeros(len(td_error))
    tail = 0.0  # trace[t+1] * correction[t+1]
    for t in reversed(range(len(td_error))):
        correction[t] = td_error[t] + discount[t] * tail
        tail = trace[t] * correction[t]
    return np.asarray(value + correction)


def retrace_batch(
    reward: Tensor, discount: Tensor, value: Tensor, next_value: Tensor, log_rho: Tensor, *, trace_decay: float
) -> Tensor:
    """`retrace` for every row of a padded batch; all shapes [N, T]."""
    trace = trace_decay * log_rho.clamp(max=0.0).exp()
    td_error = td_errors(reward, discount, value, next_value)
    correction = torch.zeros_like(value)
    tail = torch.zeros_like(value[:, 0])
    for t in reversed(range(value.shape[1])):
        correction[:, t] = td_error[:, t] + discount[:, t] * tail
        tail = trace[:, t] * correction[:, t]
    return value + correction


def vtrace_batch(
    reward: Tensor,
    discount: Tensor,
    value: Tensor,
    next_value: Tensor,
    log_rho: Tensor,
    *,
    trace_decay: float,
    ratio_clip: float,
    trace_clip: float,
) -> Tensor:
    """V-trace targets (IMPALA) for every row of a padded batch; all shapes [N, T].

        v(s_t) = V(s_t) + Σ_{k≥t} γ^{k−t} · (Π_{i=t..k−1} c_i) · min(ρ̄, ρ_k)·δ_k,   c_i = λ·min(c̄, ρ_i)

    Unlike Retrace's, the target at t is shortened by the ratio of a_t itself: v is the value of a policy between π and
    the one that played. As a recursion, Δ_t = min(ρ̄, ρ_t)·δ_t + γ_t·c_t·Δ_{t+1}.
    """
    ratio = log_rho.clamp(max=60.0).exp()
    td_error = ratio.clamp(max=ratio_clip) * td_errors(reward, discount, value, next_value)
    trace = trace_decay * ratio.clamp(max=trace_clip)
    correction = torch.zeros_like(value)
    tail = torch.zeros_like(value[:, 0])
    for t in reversed(range(value.shape[1])):
        tail = td_error[:, t] + discount[:, t] * trace[:, t] * tail
        correction[:, t] = tail
    return value + correction


def doubly_robust(outcome: Tensor, td_error: Tensor, mask: Tensor, *, trace_decay: float) -> Tensor:
    """DigiRL's step advantage: A_h = λ^{H−h}·R + (1 − λ^{H−h}·R)·δ_h, with H the terminal step. [N], [N, T] → [N, T].

    Near the end of a success the outcome speaks; far from it, and in every failure, the critic's TD error does.
    """
    position = torch.arange(mask.shape[1], device=mask.device)
    remaining = (mask.sum(dim=1, keepdim=True) - 1 - position).clamp(min=0)
    trust = trace_decay**remaining * outcome.unsqueeze(1)
    return (trust + (1.0 - trust) * td_error) * mask


def group_relative(outcome: Tensor, group_mean: Tensor, group_std: Tensor) -> Tensor:
    """GRPO's advantage of a trajectory: (R − mean) / std of its group; 0 where the whole group ended alike. [N]."""
    alike = group_std <= 0.0
    return torch.where(alike, 0.0, (outcome - group_mean) / torch.where(alike, 1.0, group_std))


def rewards(outcome: Tensor, terminal: Tensor, invalid: Tensor, *, invalid_penalty: float) -> Tensor:
    """r_t: the outcome at the terminal step, less κ wherever the text was no action. [N], [N, T], [N, T] → [N, T].

    P_invalid is 0 or 1 and has no gradient of its own, so it is a price on the step and no term of the loss.
    """
    return outcome.unsqueeze(1) * terminal - invalid_penalty * invalid


def following(values: Tensor) -> Tensor:
    """values[t+1] at t; 0 after the last. [N, T]."""
    return torch.cat([values[:, 1:], torch.zeros_like(values[:, :1])], dim=1)


def td_errors(reward: Tensor, discount: Tensor, value: Tensor, next_value: Tensor) -> Tensor:
    """δ_t = r_t + γ·V(s_{t+1}) − V(s_t). With `next_value` = V_ret(s_{t+1}) it is the Retrace advantage."""
    return reward + discount * next_value - value


def discounted_returns(reward: Tensor, discount: Tensor) -> Tensor:
    """Σ_k γ^{k−t}·r_k to the end of the episode, as played and without correction. [N, T]."""
    returns = torch.zeros_like(reward)
    tail = torch.zeros_like(reward[:, 0])
    for t in reversed(range(reward.shape[1])):
        tail = reward[:, t] + discount[:, t] * tail
        returns[:, t] = tail
    return returns
