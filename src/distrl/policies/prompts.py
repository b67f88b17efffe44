"""The prompt: goal and past actions as text, then the screenshot.

The goal precedes the image: in a causal model the image tokens can then attend to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from distrl.types import Prompt, Step

INSTRUCTION = (
    "You use a phone. Reply with one action: tap x y | long_press x y | swipe x1 y1 x2 y2 | "
    'type "text" | press back|home|enter | wait | done | answer "text" | impossible. '
    "Coordinates go from 0 to 1000 over the width and height of the screen.\n"
)


def history_of(steps: Sequence[Step], limit: int) -> tuple[str, ...]:
    """The texts of the last `limit` actions, oldest first."""
    return tuple(step.decision.text for step in steps[max(0, len(steps) - limit) :])


def describe(prompt: Prompt) -> str:
    """The text part of a prompt."""
    past = "".join(f"{text}\n" for text in prompt.history)
    return f"Goal: {prompt.goal}\n{past}"


def messages(prompt: Prompt, instruction: str = "") -> list[dict[str, Any]]:
    """The prompt as chat messages for a model with a chat template: text first, then the image."""
    content = [{"type": "text", "text": instruction + describe(prompt)}, {"type": "image"}]
    return [{"role": "user", "content": content}]
