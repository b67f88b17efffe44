"""One optimizer step of supervised training, repeated on batches of one shape.

With a model as small as pocket, Python's kernel launches are the bottleneck, not the GPU. So a step is captured once as
a CUDA graph and replayed. (`torch.compile` is no alternative: a vision tower with convolutions, compiled for a GPU, did
not learn at all.)
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


class SupervisedStep(Protocol):
    def __call__(self, batch: Batch, rate: float) -> Losses:
        """Train on a batch at a learning rate. Returns its losses; the next step may overwrite them."""


class EagerStep:
    """Eager mode: batches of any shape, on any device."""

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


class CudaGraphStep(EagerStep):
    """Warm-up steps on a side stream, as CUDA graphs require; then one step is captured, and replayed."""

    WARM_UP = 3

    def __init__(self, losses: Callable[..., Losses], parameters: list[torch.nn.Parameter]) -> None:
        self._rate = torch.zeros((), device=parameters[0].device)
        super().__init__(losses, parameters, self._rate)
        self._taken = 0
        self._graph: torch.cuda.CUDAGraph | None = None
        self._batch: Batch = ()
        self._captured: Losses = {}

    def __call__(self, batch: Batch, rate: float) -> Losses:
        self._taken += 1
        if self._taken == self.WARM_UP + 1:
            self._capture(batch)
        if self._graph is None:
            return self._on_side_stream(batch, rate)
        self._set_rate(rate)
        for mine, new in zip(self._batch, batch, strict=True):
            mine.copy_(new)
        self._graph.replay()
        return self._captured

    def _set_rate(self, rate: float) -> None:
        self._rate.fill_(rate)

    def _on_side_stream(self, batch: Batch, rate: float) -> Losses:
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            losses = super().__call__(batch, rate)
        torch.cuda.current_stream().wait_stream(stream)
        return losses

    def _capture(self, batch: Batch) -> None:
        """Capturing does not train. A step that cannot be captured stays in eager mode."""
        graph = torch.cuda.CUDAGraph()
        self._batch = [tensor.clone() for tensor in batch]
        self._optimiser.zero_grad(set_to_none=True)
        try:
            with torch.cuda.graph(graph):
                self._captured = self._learn(self._batch)
        except RuntimeError as error:
            log.warning(
                "the training step could not be captured as a CUDA graph and runs in eager mode, which is slower: %s",
                error,
            )
        else:
            self._graph = graph
