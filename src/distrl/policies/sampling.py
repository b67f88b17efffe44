"""Sampling that keeps its own record: log-probabilities of the distribution really drawn from."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import LogitsProcessor


class RecordingSampler(LogitsProcessor):  # type: ignore[misc]
    """Draws by the Gumbel trick: noise is added here, so that a greedy `generate` takes exactly our draw.

    Temperature 0 adds no noise and records the probabilities at temperature 1.
    """

    def __init__(self, temperature: float, generator: torch.Generator, *, never: int) -> None:
        self.temperature = temperature
        self.generator = generator
        self.never = never
        self.tokens: list[Tensor] = []
        self.logprobs: list[Tensor] = []
        self.entropies: list[Tensor] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        logprobs = distribution(scores, self.temperature or 1.0, never=self.never)
        keys = logprobs
        if self.temperature:
            uniform = torch.rand(logprobs.shape, generator=self.generator, dtype=torch.float64).to(logprobs.device)
            keys = logprobs - torch.log(-torch.log(uniform.clamp(1e-300, 1 - 1e-16))).float()
        token = keys.argmax(-1, keepdim=True)
        self.tokens.append(token.squeeze(-1))
        self.logprobs.append(logprobs.gather(-1, token).squeeze(-1))
        self.entropies.append(entropy_of(logprobs))
        return keys


def distribution(logits: Tensor, temperature: float, *, never: int) -> Tensor:
    """Log-probabilities over the vocabulary, without the one token an action must never hold: the image token."""
    logits = logits.float() / temperature
    barred = torch.zeros(logits.shape[-1], device=logits.device)
    barred[never] = -torch.inf
    return torch.log_softmax(logits + barred, -1)


def entropy_of(logprobs: Tensor) -> Tensor:
    """−Σ p log p over the last axis; tokens of probability zero count nothing."""
    return -(logprobs.exp() * logprobs.clamp_min(-1e4)).sum(-1)
