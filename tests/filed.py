"""Tasks from a file, real phones' devices and judges, and a policy that knows nothing of goals but that they differ.

Importable by Ray's processes because `tests/conftest.py` puts this folder on the path.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import torch
from toy import BUTTONS, DONE, ToyPolicy

from distrl.runtime.topology import Builder
from distrl.types import Answer, Decision, Done, Press, Prompt, Tap

ACTIONS = (Press("home"), Tap(500, 500), Tap(120, 900), Answer("56"), Done())
assert len(ACTIONS) == DONE + 1


class AnyGoalPolicy(ToyPolicy):
    """A toy policy for any goal: what it does is home, two taps, an answer, done."""

    def _places(self, prompts: Sequence[Prompt]) -> tuple[torch.Tensor, torch.Tensor]:
        goals = torch.tensor([zlib.crc32(prompt.goal.encode()) % BUTTONS for prompt in prompts])
        return goals, torch.tensor([int(bool(prompt.history)) for prompt in prompts])

    def _decision(self, token: int, logprobs: torch.Tensor) -> Decision:
        entropy = float(-(logprobs.exp() * logprobs).sum())
        return Decision(
            ACTIONS[token], repr(ACTIONS[token]), (token,), (float(logprobs[token]),), entropy, self.version
        )


class FiledBuilder(Builder):
    """The parts that the config names, and a policy that costs nothing."""

    def policy(self, seed: int, device: str) -> Any:
        torch.set_num_threads(1)
        return AnyGoalPolicy(seed, self.config.policy.temperature)
