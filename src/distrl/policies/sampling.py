"""Token sampling that records log-probabilities under the distribution it sampled from."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import LogitsProcessor


class RecordingSampler(LogitsProcessor):  # type: ignore[misc]
    """Samples by the Gumbel-max trick: noise is added here, so that a greedy `generate` picks exactly this sample.

    Temperature 0 adds no noise and records the probabilities at temperature 1.
    """

    def __init__(self, temperature: float, generator: torch.Generator, *, excluded_token: int) -> None:
        self.temperature = temperature
        self.generator = generator
        self.excluded_token = excluded_token
        self.tokens: list[Tensor] = []
        self.logprobs: list[Tensor] = []
        self.entropies: list[Tensor] = []

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        logprobs = distribution(scores, self.temperature or 1.0, excluded_token=self.excluded_token)
        keys = logprobs
        if self.temperature:
            uniform = torch.rand(logprobs.shape, generator=self.generator, dtype=torch.float64).to(logprobs.device)
            keys = logprobs - torch.log(-torch.log(uniform.clamp(1e-300, 1 - 1e-16))).float()
        token = keys.argmax(-1, keepdim=True)
        self.tokens.append(token.squeeze(-1))
        self.logprobs.append(logprobs.gather(-1, token).squeeze(-1))
        self.entropies.append(entropy_of(logprobs))
        return keys


def distribution(logits: Tensor, temperature: float, *, excluded_token: int) -> Tensor:
    """Log-probabilities over the vocabulary, without the one token that an action must not contain: the image token."""
    logits = logits.float() / temperature
    barred = torch.zeros(logits.shape[-1], device=logits.device)
    barred[excluded_token] = -torch.inf
    return torch.log_softmax(logits + barred, -1)


def entropy_of(logprobs: Tensor) -> Tensor:
    """−Σ p log p over the last axis; tokens of probability zero contribute 0."""
    return -(logprobs.exp() * logprobs.clamp_min(-1e4)).sum(-1)
