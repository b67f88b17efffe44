"""Supervised training of the pocket model: reading screens and imitating demonstrations.

Three losses, summed:
- act: cross-entropy on the tokens of the demonstrated action;
- read: every 32-px cell of the screen names the words that stand in it, through the word embeddings themselves.
  Without it a small model memorises coordinates and never learns to read;
- find: early in the decoder, every cell is classified by whether the prompt names one of its words. Without it a model
  that reads needs millions of examples to locate the word it is told to tap.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from distrl.learner.supervised_step import Batch, CudaGraphStep, EagerStep, Losses, SupervisedStep

IGNORE = -100
FIND_LAYER = 1
"""Index of the decoder layer whose output the find loss sees; the later layers can use it."""
REPORT_EVERY = 200


@dataclass(frozen=True, slots=True)
class ExampleArrays:
    """Examples as arrays. S screens, N examples; an example points at its screen."""

    pixels: npt.NDArray[np.uint8]
    """[S, height, width, 3]"""
    cells: npt.NDArray[np.int32]
    """[S, cells, k]: ids of the words in each cell, -1 where there are fewer than k."""
    screen: npt.NDArray[np.int64]
    """[N]"""
    prompts: npt.NDArray[np.int32]
    """[N, P]: prompt tokens, padded on the left."""
    actions: npt.NDArray[np.int32]
    """[N, A]: action tokens with end-of-sequence, padded on the right."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """Warm-up, then a cosine down to a fiftieth of the peak."""

    steps: int
    batch_size: int = 256
    learning_rate: float = 1e-3
    warmup: int = 200
    train_vision: bool = True
    sets: int = 1
    """Number of example sets that the steps are divided among."""

    def rate(self, step: int) -> float:
        decay = 0.5 * (1 + math.cos(math.pi * step / self.steps))
        return self.learning_rate * min(1.0, step / self.warmup) * max(0.02, decay)


class ImitationTrainer:
    """Trains a pocket model along a schedule; calls `report(step, losses)` every `REPORT_EVERY` steps."""

    def __init__(self, model: Any, *, pad_id: int, device: torch.device, seed: int) -> None:
        self.model = model.to(device)
        self.pad_id = pad_id
        self.device = device
        self.random = torch.Generator(device="cpu").manual_seed(seed)
        self.finder = torch.nn.Linear(model.config.text_config.hidden_size, 1).to(device)
        """The head of the find loss; not part of the saved model."""

    def train(
        self, sets: Iterable[ExampleArrays], schedule: Schedule, report: Callable[[int, dict[str, float]], None]
    ) -> None:
        step = self._step(schedule)
        self.model.train()
        batches = chain.from_iterable(self._batches_of(examples, schedule) for examples in sets)
        for number, batch in enumerate(batches):
            losses = step(batch, schedule.rate(number))
            if (number + 1) % REPORT_EVERY == 0:
                report(number + 1, {name: loss.item() for name, loss in losses.items()})
        self.model.eval()

    def _step(self, schedule: Schedule) -> SupervisedStep:
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(schedule.train_vision or not name.startswith("vision_tower"))
        learning = [*(p for p in self.model.parameters() if p.requires_grad), *self.finder.parameters()]
        if not schedule.train_vision:
            return EagerStep(self._decoder_losses, learning, rate=0.0)
        if self.device.type == "cuda":
            return CudaGraphStep(self.losses, learning)
        return EagerStep(self.losses, learning, rate=0.0)

    def _batches_of(self, examples: ExampleArrays, schedule: Schedule) -> Iterator[Batch]:
        steps = schedule.steps // schedule.sets
        batches = _Batches(examples, self.device, self.random)
        if schedule.train_vision:
            yield from batches.take(steps, schedule.batch_size)
            return
        features = self._features(batches)  # a frozen vision tower is run once per screen
        for screens, cells, prompts, actions in batches.by_length(steps, schedule.batch_size):
            yield features[screens], cells, prompts, actions

    @torch.no_grad()
    def _features(self, batches: _Batches) -> Tensor:
        return torch.cat([self.model.get_image_features(_images(p)).pooler_output for p in batches.screens(64)])

    def losses(self, pixels: Tensor, cells: Tensor, prompts: Tensor, actions: Tensor) -> Losses:
        with self._bfloat16_on_cuda():
            features = self.model.get_image_features(_images(pixels))
            words = features.last_hidden_state @ self.model.get_input_embeddings().weight.t()
        read = read_loss(words.float(), cells, nothing=self.pad_id)
        return {**self._decoder_losses(features.pooler_output, cells, prompts, actions), "read": read}

    def _decoder_losses(self, features: Tensor, cells: Tensor, prompts: Tensor, actions: Tensor) -> Losses:
        with self._bfloat16_on_cuda(), self._early_hidden_states() as hidden:
            logits = self._action_logits(features, prompts, actions)
        target = actions.masked_fill(actions == self.pad_id, IGNORE)
        act = functional.cross_entropy(logits.float().flatten(0, 1), target.flatten(), ignore_index=IGNORE)
        first = (prompts == self.model.config.image_token_id).int().argmax(1, keepdim=True)
        where = first + torch.arange(features.shape[1], device=first.device)
        states = hidden[0].float().gather(1, where.unsqueeze(-1).expand(-1, -1, hidden[0].shape[-1]))
        scores = self.finder(functional.rms_norm(states, states.shape[-1:])).squeeze(-1)
        return {"act": act, "find": find_loss(scores, asked_for(cells, prompts, len(self.model.lm_head.weight)))}

    @contextmanager
    def _early_hidden_states(self) -> Iterator[list[Tensor]]:
        """Collects the output of decoder layer `FIND_LAYER` of a forward pass."""
        hidden: list[Tensor] = []
        layer = self.model.language_model.layers[FIND_LAYER]
        hook = layer.register_forward_hook(lambda _, __, out: hidden.append(out[0] if isinstance(out, tuple) else out))
        try:
            yield hidden
        finally:
            hook.remove()

    def _bfloat16_on_cuda(self) -> torch.autocast:
        """Without autocast's weight cache, which a recorded CUDA graph must not refer to."""
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda", cache_enabled=False)

    @torch.no_grad()
    def accuracy(self, examples: ExampleArrays, batch_size: int = 256) -> dict[str, float]:
        """Share of examples whose whole action is the most likely one, and of non-empty cells read correctly."""
        everything = _Batches(examples, self.device, self.random)
        right, read = [], []
        for pixels, cells, prompts, actions in everything.all(batch_size):
            features = self.model.get_image_features(_images(pixels))
            said = self._action_logits(features.pooler_output, prompts, actions).argmax(-1)
            right.append(((said == actions) | (actions == self.pad_id)).all(1))
            words = (features.last_hidden_state @ self.model.get_input_embeddings().weight.t()).argmax(-1, keepdim=True)
            read.append((words == cells).any(-1)[(cells >= 0).any(-1)])
        return {"act": torch.cat(right).float().mean().item(), "read": torch.cat(read).float().mean().item()}

    def _action_logits(self, features: Tensor, prompts: Tensor, actions: Tensor) -> Tensor:
        ids = torch.cat([prompts, actions[:, :-1]], 1)
        mask = torch.cat([prompts != self.pad_id, torch.ones_like(actions[:, :-1], dtype=torch.bool)], 1)
        embeds = self.model.get_input_embeddings()(ids)
        here = ids == self.model.config.image_token_id
        which = (here.cumsum(1) - 1).clamp(0, features.shape[1] - 1).unsqueeze(-1).expand(-1, -1, features.shape[-1])
        embeds = torch.where(here.unsqueeze(-1), features.to(embeds.dtype).gather(1, which), embeds)
        positions = (mask.cumsum(1) - 1).clamp_min(0)
        length = actions.shape[1]
        logits: Tensor = self.model(
            inputs_embeds=embeds,
            attention_mask=mask.long(),
            position_ids=positions,
            logits_to_keep=length,
            use_cache=False,
        ).logits
        return logits


def _images(pixels: Tensor) -> Tensor:
    return pixels.permute(0, 3, 1, 2).float() / 127.5 - 1


def read_loss(logits: Tensor, cells: Tensor, *, nothing: int, nothing_weight: float = 0.1) -> Tensor:
    """Cross-entropy of naming a cell's words [B, cells, vocabulary] against [B, cells, k]; -1 pads.

    A cell with several words shares the target among them; the target of an empty cell is `nothing`, with a small
    weight, since most cells are empty.
    """
    logprobs = functional.log_softmax(logits, -1)
    there = cells >= 0
    count = there.sum(-1)
    named = logprobs.gather(-1, cells.clamp_min(0).long()) * there
    word_loss = -named.sum(-1) / count.clamp_min(1)
    empty = count == 0
    loss = torch.where(empty, -nothing_weight * logprobs[..., nothing], word_loss)
    return loss.sum() / (nothing_weight * empty.sum() + (~empty).sum())


def asked_for(cells: Tensor, prompts: Tensor, vocabulary: int) -> Tensor:
    """Which cells [B, cells, k] hold a word of their prompt [B, P], padding excluded, → [B, cells].

    Tokens found in more than half of the prompts (template, image, space) are ignored.
    """
    counts = torch.zeros(vocabulary, device=prompts.device)
    counts.scatter_add_(0, prompts.flatten(), torch.ones_like(prompts, dtype=counts.dtype).flatten())
    words = prompts.masked_fill((counts > len(prompts) / 2)[prompts], -2)
    return (cells.unsqueeze(-1) == words[:, None, None, :]).any(-1).any(-1)


def find_loss(scores: Tensor, asked: Tensor, *, others_weight: float = 0.05) -> Tensor:
    """Cross-entropy of which cells are asked for [B, cells]; the others, far more, have a small weight."""
    weight = torch.where(asked, 1.0, others_weight)
    loss = functional.binary_cross_entropy_with_logits(scores, asked.float(), reduction="none")
    return (loss * weight).sum() / weight.sum()


class _Batches:
    """Batches of examples that are held on the device."""

    def __init__(self, examples: ExampleArrays, device: torch.device, generator: torch.Generator) -> None:
        arrays = (examples.pixels, examples.cells, examples.screen, examples.prompts, examples.actions)
        self._tensors = [torch.from_numpy(array).to(device) for array in arrays]
        self._generator = generator
        self._device = device

    def all(self, size: int) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        for start in range(0, len(self._tensors[2]), size):
            yield self._selected(slice(start, start + size))

    def take(self, count: int, size: int) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        for _ in range(count):
            pick = torch.randint(0, len(self._tensors[2]), (size,), generator=self._generator)
            yield self._selected(pick.to(self._device))

    def screens(self, size: int) -> Iterator[Tensor]:
        """Every screen's pixels, in order."""
        return iter(torch.split(self._tensors[0], size))

    def by_length(self, count: int, size: int) -> Iterator[tuple[Tensor, Tensor, Tensor, Tensor]]:
        """Random batches of prompts of similar length, without their common padding."""
        _, cells, screen, prompts, actions = self._tensors
        length = (prompts != 0).sum(1).cpu()
        order = torch.arange(0)
        for _ in range(count):
            if len(order) < size:
                loose = torch.rand(len(length), generator=self._generator)
                chunks = list(torch.split((length + 8 * loose).argsort(), size))
                order = torch.cat([chunks[i] for i in torch.randperm(len(chunks), generator=self._generator)])
            pick, order = order[:size], order[size:]
            longest = int(length[pick].max())
            pick = pick.to(self._device)
            written = int((actions[pick] != 0).sum(1).max())
            there = screen[pick]
            yield there, cells[there], prompts[pick, -longest:].long(), actions[pick, :written].long()

    def _selected(self, pick: Tensor | slice) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        pixels, cells, screen, prompts, actions = self._tensors
        there = screen[pick]
        return pixels[there], cells[there], prompts[pick].long(), actions[pick].long()
