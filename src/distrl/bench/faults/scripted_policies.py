"""Scripted policies that take no time: one plays fixed moves, one also writes malformed actions."""

from __future__ import annotations

from typing import Any

from distrl.types import (
    Action,
    Decision,
    Done,
    Features,
    Invalid,
    Press,
    Prompt,
    Swipe,
    Wait,
)

MOVES: tuple[Action, ...] = (Swipe(500, 700, 500, 300), Press("home"), Swipe(500, 300, 500, 700))
"""At most as many as `policy.history`, by which the next move is chosen."""
EVERY = 3


class FixedMovesPolicy:
    """A `PolicyClient` that makes the same moves in every episode and then declares it done."""

    version = 0

    async def act(self, prompt: Prompt) -> Decision:
        return self.decided(self.move(prompt))

    def move(self, prompt: Prompt) -> Action:
        return MOVES[len(prompt.history)] if len(prompt.history) < len(MOVES) else Done()

    def decided(self, action: Action) -> Decision:
        text = action.text if isinstance(action, Invalid) else type(action).__name__
        return Decision(action, text, (1,), (-0.5,), 0.1, self.version)

    async def load(self, weights: Any) -> None:
        raise AssertionError("no weights are published in this bench")

    def known_features(self, digests: Any) -> Features:
        return {}


class MalformedActionsPolicy(FixedMovesPolicy):
    """Every third text is no action, and for a third of the goals it never ends the episode."""

    def __init__(self) -> None:
        self._decisions = 0

    def move(self, prompt: Prompt) -> Action:
        self._decisions += 1
        if self._decisions % EVERY == 0:
            return Invalid("tap the ☃ {", "no such action")
        if never_ends(prompt.goal):
            return Wait()
        return super().move(prompt)


def never_ends(goal: str) -> bool:
    return len(goal) % EVERY == 0
