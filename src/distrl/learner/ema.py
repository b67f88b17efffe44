"""Exponential moving average (EMA) of the weights: what the learner publishes, evaluates and saves as its model.

A step on a small sample is dominated by gradient noise. Averaging over the last N steps (`learner.average_steps`)
removes most of it, at the price of lagging behind the current weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightEma:
    """Average of the parameters θ after each optimizer step: mean ← mean + (θ − mean) / min(count, steps).

    Over the first `steps` it is the arithmetic mean, so the initial parameters get no extra weight; after that it is an
    EMA with decay 1 − 1/steps. Held in float32: in half precision small updates of the mean are rounded away. With
    `steps` 1 it is switched off: the parameters themselves are used, and no second copy of them is held.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], steps: int) -> None:
        self.parameters = list(parameters)
        self.steps = steps
        self.count = 0
        self.means: list[Tensor] = []

    @torch.no_grad()
    def add(self, *, first: bool = False) -> None:
        """Update the average with the current parameters; `first` restarts it from them."""
        if self.steps == 1:
            return
        self.count = 1 if first else self.count + 1
        if self.count == 1:
            self.means = [parameter.data.to(torch.float32, copy=True) for parameter in self.parameters]
        for mean, parameter in zip(self.means, self.parameters, strict=True):
            mean.lerp_(parameter.data.float(), 1.0 / min(self.count, self.steps))

    @contextmanager
    def swapped_in(self) -> Iterator[None]:
        """While the block runs, the parameters hold the average."""
        if not self.means:
            yield
            return
        own = [parameter.data for parameter in self.parameters]
        self._put([mean.to(data.dtype) for mean, data in zip(self.means, own, strict=True)])
        try:
            yield
        finally:
            self._put(own)

    def restore(self, means: Sequence[Tensor], count: int) -> None:
        """Continue from an average of `count` steps; start anew without `means`, or where averaging is off."""
        continues = bool(means) and self.steps > 1
        self.means = [mean.to(p.device) for p, mean in zip(self.parameters, means, strict=True)] if continues else []
        self.count = count if continues else 0

    def _put(self, tensors: Sequence[Tensor]) -> None:
        for parameter, tensor in zip(self.parameters, tensors, strict=True):
            parameter.data = tensor
