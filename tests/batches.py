"""A small padded batch of random numbers, for tests of algorithms: four trajectories of different lengths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from distrl import algorithms
from distrl.algorithms.base import Algorithm, Batch, Estimates
from distrl.registry import ALGORITHMS

LENGTHS = [3, 1, 4, 2]
STEPS = sum(LENGTHS)


def algorithm(name: str = "a_ride", **changes: Any) -> Any:
    """The algorithm with its default settings but for these; those that only others have are left out."""
    settings = ALGORITHMS.load(name)
    everywhere = {field for each in ALGORITHMS.names() for field in ALGORITHMS.load(each).model_fields}
    assert set(changes) <= everywhere
    built: Algorithm = algorithms.build(
        settings(**{key: changes[key] for key in changes.keys() & settings.model_fields})
    )
    return built


def uses_critic(name: str) -> bool:
    uses: bool = algorithms.implementation(ALGORITHMS.load(name)).uses_critic
    return uses


def random_batch(seed: int = 0) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    mask = torch.zeros(4, 4, dtype=torch.bool)
    terminal = mask.clone()
    for row, length in enumerate(LENGTHS):
        mask[row, :length] = True
        terminal[row, length - 1] = True
    invalid = mask.clone() & (torch.rand(4, 4, generator=generator) < 0.3)
    return Batch(
        mask=mask,
        terminal=terminal,
        invalid=invalid,
        behaviour_logprob=-torch.rand(4, 4, generator=generator) * 3 * mask,
        outcome=torch.tensor([1.0, 0.0, 1.0, 0.0]),
        importance=torch.tensor([1.0, 0.5, 0.25, 0.75]),
        horizon=torch.tensor([8.0, 8.0, 10.0, 10.0]),
        group_mean=torch.full((4,), 0.5),
        group_std=torch.full((4,), 0.5),
    )


def random_estimates(seed: int = 1) -> Estimates:
    generator = torch.Generator().manual_seed(seed)
    logprob, entropy, value, forecast = torch.rand(4, STEPS, generator=generator)
    return Estimates(
        *(t.clone().requires_grad_() for t in (-3 * logprob, 2 * entropy, 4 * value - 2, 4 * forecast - 2))
    )


def on_policy(batch: Batch, estimates: Estimates) -> Estimates:
    """The same estimates of a policy that is still the one that played."""
    return replace(estimates, logprob=batch.behaviour_logprob[batch.mask].clone().requires_grad_())


def wider(batch: Batch) -> Batch:
    """The same trajectories with more padding behind them."""
    widen = {
        name: torch.cat([getattr(batch, name), torch.zeros_like(getattr(batch, name))], dim=1)
        for name in ("mask", "terminal", "invalid", "behaviour_logprob")
    }
    return replace(batch, **widen)


def rows(flat: torch.Tensor) -> list[npt.NDArray[np.float64]]:
    """[S] → one numpy array per trajectory."""
    return np.split(np.asarray(flat.detach(), dtype=np.float64), np.cumsum(LENGTHS)[:-1])
