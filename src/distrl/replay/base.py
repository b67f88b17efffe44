"""What replay gives to a learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from distrl.types import Floats, Trajectory


@dataclass(frozen=True, slots=True)
class Sample:
    """Whole trajectories, drawn by priority: the terminal step, which carries the reward, is always among the steps."""

    ids: tuple[str, ...]
    """One may occur twice when its priority is high."""
    trajectories: tuple[Trajectory, ...]
    """In the order of `ids`; their screens are references."""
    weights: Floats
    """Importance weights (N·P)^−β, divided by the largest of them. Shape [count]."""
    probabilities: Floats
    """P(τ) at the time of the draw. Shape [count]."""


class Replay(Protocol):
    """Where trajectories wait for the learner. One owner."""

    def insert(self, trajectory: Trajectory) -> bool:
        """False when its id is there already. Raises ValueError for an outcome that is invalid."""

    def sample(self, count: int) -> Sample: ...

    def update(self, ids: Sequence[str], priorities: Sequence[float] | Floats) -> None:
        """New priorities; ids that have left in the meantime are passed over."""

    def __len__(self) -> int: ...
