"""A policy and judges that take no time, and do on purpose what real ones do now and then."""

from __future__ import annotations

from typing import Any

from distrl.types import (
    Action,
    Decision,
    Done,
    Features,
    Invalid,
    Outcome,
    Press,
    Prompt,
    Swipe,
    Task,
    Trajectory,
    Tree,
    Wait,
)

MOVES: tuple[Action, ...] = (Swipe(500, 700, 500, 300), Press("home"), Swipe(500, 300, 500, 700))
"""No more than a prompt's history tells apart."""
EVERY = 3


class FixedMovesPolicy:
    """A brain that makes the same moves in every episode and says that it is done."""

    version = 0

    async def act(self, prompt: Prompt) -> Decision:
        return self.decided(self.move(prompt))

    def move(self, prompt: Prompt) -> Action:
        return MOVES[len(prompt.history)] if len(prompt.history) < len(MOVES) else Done()

    def decided(self, action: Action) -> Decision:
        text = action.text if isinstance(action, Invalid) else type(action).__name__
        return Decision(action, text, (1,), (-0.5,), 0.1, self.version)

    async def load(self, weights: Any) -> None:
        raise AssertionError("nobody publishes weights here")

    def known_features(self, digests: Any) -> Features:
        return {}


class MalformedActionsPolicy(FixedMovesPolicy):
    """Every third thing it writes is no action, and every third goal it never gives up."""

    def __init__(self) -> None:
        self._said = 0

    def move(self, prompt: Prompt) -> Action:
        self._said += 1
        if self._said % EVERY == 0:
            return Invalid("tap the ☃ {", "no such action")
        if endless(prompt.goal):
            return Wait()
        return super().move(prompt)


def endless(goal: str) -> bool:
    return len(goal) % EVERY == 0


class Lenient:
    """Calls everything a success."""

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        return Outcome("success")
