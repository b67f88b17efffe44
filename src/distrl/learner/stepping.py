"""One step of learning from examples, over and over on batches of one shape.

A model as small as pocket does not wait for the GPU but for Python, which tells the GPU what to do one operation at a
time. There a step is recorded once, as a CUDA graph, and replayed. (`torch.compile` is no way around: of a tower with
convolutions, on a GPU, it learned nothing at all.)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

Batch = Sequence[Tensor]
Losses = dict[str, Tensor]

log = logging.getLogger(__name__)


class Step(Protocol):
    def __call__(self, batch: Batch, rate: float) -> Losses:
        """Learn from a batch at a rate; its losses, which the next step may overwrite."""


class EagerStep:
    """Operation by operation: batches of any shape, on any device."""

    def __init__(
        self, losses: Callable[..., Losses], parameters: list[torch.nn.Parameter], rate: float | Tensor
    ) -> None:
        on_gpu = parameters[0].is_cuda
        self._losses = losses
        self._parameters = parameters
        self._optimiser = torch.optim.AdamW(
            parameters, lr=rate, weight_decay=0.05, betas=(0.9, 0.95), fused=on_gpu, capturable=on_gpu
        )

    def __call__(self, batch: Batch, rate: float) -> Losses:
        self._set_rate(rate)
        self._optimiser.zero_grad(set_to_none=True)
        return self._learn(batch)

    def _set_rate(self, rate: float) -> None:
        for group in self._optimiser.param_groups:
            group["lr"] = rate

    def _learn(self, batch: Batch) -> Losses:
        losses = self._losses(*batch)
        torch.autograd.backward([torch.stack(list(losses.values())).sum()])
        torch.nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimiser.step()
        return {name: loss.detach() for name, loss in losses.items()}


class ReplayedStep(EagerStep):
    """The first steps one by one on a stream of their own, as CUDA asks for; then one is recorded, and replayed."""

    FIRST = 3

    def __init__(self, losses: Callable[..., Losses], parameters: list[torch.nn.Parameter]) -> None:
        self._rate = torch.zeros((), device=parameters[0].device)
        super().__init__(losses, parameters, self._rate)
        self._taken = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batch: Batch = ()
        self._recorded: Losses = {}

    def __call__(self, batch: Batch, rate: float) -> Losses:
        self._taken += 1
        if self._taken == self.FIRST + 1:
            self._record(batch)
        if self._graph is None:
            return self._aside(batch, rate)
        self._set_rate(rate)
        for mine, new in zip(self._batch, batch, strict=True):
            mine.copy_(new)
        self._graph.replay()
        return self._recorded

    def _set_rate(self, rate: float) -> None:
        self._rate.fill_(rate)

    def _aside(self, batch: Batch, rate: float) -> Losses:
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            losses = super().__call__(batch, rate)
        torch.cuda.current_stream().wait_stream(stream)
        return losses

    def _record(self, batch: Batch) -> None:
        """Nothing is learned by it. A step that cannot be recorded goes on one by one."""
        graph = torch.cuda.CUDAGraph()
        self._batch = [tensor.clone() for tensor in batch]
        self._optimiser.zero_grad(set_to_none=True)
        try:
            with torch.cuda.graph(graph):
                self._recorded = self._learn(self._batch)
        except RuntimeError as error:
            log.warning("a step could not be recorded and is taken one operation at a time, which is slower: %s", error)
        else:
            self._graph = graph
