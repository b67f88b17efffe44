"""Prompts → inputs of a Hugging Face model. The only module that handles processors and image tokens."""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor

from distrl.errors import CorruptData
from distrl.policies.prompts import INSTRUCTION, messages
from distrl.types import Prompt, Screen

Ids = npt.NDArray[np.int32]
"""Token ids of one prompt."""

PROMPT_CACHE_SIZE = 20_000
"""Size of the cache of tokenized prompts: a replayed step has the same prompt each time, and chat template and
tokenizer take longer than a small model."""


def open_image(screen: Screen) -> Image.Image:
    """The screen's pixels. Raises `CorruptData` for a screen without a readable image."""
    try:
        return Image.open(io.BytesIO(screen.image)).convert("RGB")
    except OSError as error:
        raise CorruptData(f"Screen {screen.digest[:12]} holds no readable image: {error}.") from error


class PromptEncoder:
    """Turns prompts into token ids and pixels with the model's own processor and chat template."""

    def __init__(self, processor: Any, image_token_id: int, *, instruct: bool) -> None:
        self.processor = processor
        self.tokenizer = processor.tokenizer
        self.image_token_id = image_token_id
        self.instruction = INSTRUCTION if instruct else ""
        self._expansions: dict[tuple[int, int], list[int]] = {}
        self._ids = lru_cache(PROMPT_CACHE_SIZE)(self._encode)

    def text(self, prompt: Prompt) -> str:
        chat = messages(prompt, self.instruction)
        text: str = self.processor.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        return text

    def token_ids(self, prompt: Prompt) -> Ids:
        """The prompt's tokens with all image tokens expanded; does not need the image. The array is cached and shared:
        do not write to it."""
        return self._ids(prompt.goal, prompt.history, prompt.screen.width, prompt.screen.height)

    def image_tokens(self, screen: Screen) -> int:
        """Number of features that the model computes for a screen of this size."""
        return self._expansion(screen.width, screen.height).count(self.image_token_id)

    def blank(self, colour: str = "white") -> Screen:
        """A screen of one colour, to probe a model with."""
        buffer = io.BytesIO()
        Image.new("RGB", (192, 384), colour).save(buffer, "JPEG")
        return Screen(buffer.getvalue(), 192, 384)

    def pixels(self, screens: Sequence[Screen], **settings: bool) -> dict[str, Tensor]:
        """The image processor's output for these screens. `settings` are passed to it, such as `do_rescale=False`."""
        images = [open_image(s) for s in screens]
        inputs = self.processor.image_processor(images=images, return_tensors="pt", **settings)
        return {key: torch.as_tensor(value) for key, value in inputs.items()}

    def full(self, prompts: Sequence[Prompt]) -> dict[str, Tensor]:
        """Text and images through the processor itself, padded on the left."""
        inputs = self.processor(
            text=[self.text(p) for p in prompts],
            images=[[open_image(p.screen)] for p in prompts],
            padding=True,
            padding_side="left",
            return_tensors="pt",
        )
        return dict(inputs)

    def _encode(self, goal: str, history: tuple[str, ...], width: int, height: int) -> Ids:
        ids = self._tokenize(self.text(Prompt(goal, _placeholder_screen(width, height), history)))
        at = ids.index(self.image_token_id)
        return np.array(ids[:at] + self._expansion(width, height) + ids[at + 1 :], dtype=np.int32)

    def _tokenize(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text)["input_ids"]
        return ids

    def _expansion(self, width: int, height: int) -> list[int]:
        """The tokens that the processor substitutes for one image token, for screens of this size."""
        size = (width, height)
        if size not in self._expansions:
            probe = self.text(Prompt("probe", _placeholder_screen(width, height)))
            plain = self._tokenize(probe)
            at = plain.index(self.image_token_id)
            whole = self.processor(text=[probe], images=[[Image.new("RGB", size)]])["input_ids"][0]
            tail = len(plain) - at - 1
            self._expansions[size] = list(whole[at : len(whole) - tail])
        return self._expansions[size]


def _placeholder_screen(width: int, height: int) -> Screen:
    """A screen without image, for its size only."""
    return Screen(b"", width, height, digest="-")


def pad_left(rows: Sequence[Sequence[int] | Ids], pad_id: int) -> tuple[Tensor, Tensor]:
    """Token ids and attention mask [B, longest], padding first."""
    ids, mask = _blank(rows, pad_id)
    for row, line, seen in zip(rows, ids, mask, strict=True):
        line[len(line) - len(row) :] = row
        seen[len(line) - len(row) :] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


def pad_right(rows: Sequence[Sequence[int] | Ids], pad_id: int) -> tuple[Tensor, Tensor]:
    """Token ids and mask [B, longest], padding last."""
    ids, mask = _blank(rows, pad_id)
    for row, line, seen in zip(rows, ids, mask, strict=True):
        line[: len(row)] = row
        seen[: len(row)] = 1
    return torch.from_numpy(ids), torch.from_numpy(mask)


def _blank(rows: Sequence[Sequence[int] | Ids], pad_id: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Padding ids and an all-zero mask, both [B, longest]."""
    shape = (len(rows), max(len(row) for row in rows))
    return np.full(shape, pad_id, dtype=np.int64), np.zeros(shape, dtype=np.int64)
