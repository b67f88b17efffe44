"""The weights that leave the learner: a running mean of those that learn.

One step on a small sample moves the weights by more noise than lesson. Their mean over the last steps keeps the lessons
and loses most of the noise, at the price of being about half as many steps behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """The mean of what the parameters were after each step, over about the last `steps` of them.

    The first `steps` weigh alike, so that nothing of where the parameters began is left in it; from then on the older
    fade out: mean ← mean + (θ − mean) / min(count, steps). It is held in single precision: a hundredth of a difference
    is lost in half. With `steps` 1 the mean is the parameters themselves, and no second copy of them is held.
    """

    def __init__(self, parameters: Sequence[nn.Parameter], steps: int) -> None:
        self.parameters = list(parameters)
        self.steps = steps
        self.count = 0
        self.means: list[Tensor] = []

    @torch.no_grad()
    def add(self, *, first: bool = False) -> None:
        """Take in the parameters as they are now; `first` forgets what they were before."""
        if self.steps == 1:
            return
        self.count = 1 if first else self.count + 1
        if self.count == 1:
            self.means = [parameter.data.to(torch.float32, copy=True) for parameter in self.parameters]
        for mean, parameter in zip(self.means, self.parameters, strict=True):
            mean.lerp_(parameter.data.float(), 1.0 / min(self.count, self.steps))

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """While the block runs, the parameters are the mean."""
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
        """Go on from a mean of `count` steps, or from none: without `means`, and where none is held any more."""
        going_on = bool(means) and self.steps > 1
        self.means = [mean.to(p.device) for p, mean in zip(self.parameters, means, strict=True)] if going_on else []
        self.count = count if going_on else 0

    def _put(self, tensors: Sequence[Tensor]) -> None:
        for parameter, tensor in zip(self.parameters, tensors, strict=True):
            parameter.data = tensor
