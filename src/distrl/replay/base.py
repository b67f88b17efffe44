"""What the replay buffer gives to the learner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from distrl.types import Floats, Trajectory


@dataclass(frozen=True, slots=True)
class Sample:
    """Whole trajectories, sampled by priority: the terminal step, which has the reward, is always included."""

    ids: tuple[str, ...]
    """A trajectory with a high priority may occur twice."""
    trajectories: tuple[Trajectory, ...]
    """In the order of `ids`; their screens are references."""
    weights: Floats
    """Importance weights (N·P)^−β, divided by the largest of them. Shape [count]."""
    probabilities: Floats
    """Sampling probability P(τ). Shape [count]."""
    group_mean: Floats
    """Mean outcome of all that replay holds of the trajectory's task, itself included. Shape [count]."""
    group_std: Floats
    """Standard deviation of the same outcomes; 0 for a single trajectory or equal outcomes. Shape [count]."""

    def only(self, kept: npt.NDArray[np.bool_]) -> Sample:
        """The trajectories that `kept` [count] names."""
        chosen = np.flatnonzero(kept)
        return Sample(
            tuple(self.ids[i] for i in chosen),
            tuple(self.trajectories[i] for i in chosen),
            self.weights[chosen],
            self.probabilities[chosen],
            self.group_mean[chosen],
            self.group_std[chosen],
        )


class Replay(Protocol):
    """A replay buffer: trajectories waiting for the learner. One owner."""

    def insert(self, trajectory: Trajectory) -> bool:
        """False when its id is there already. Raises ValueError for an outcome that is invalid."""

    def sample(self, count: int) -> Sample: ...

    def update(self, ids: Sequence[str], priorities: Sequence[float] | Floats) -> None:
        """New priorities; ids that were evicted in the meantime are ignored."""

    def __len__(self) -> int: ...
