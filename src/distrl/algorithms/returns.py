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
