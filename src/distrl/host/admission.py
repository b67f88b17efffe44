"""Validation of delivered trajectories: which ones may be learned from."""

from __future__ import annotations

import math

from distrl.errors import CorruptData
from distrl.types import Trajectory


def check(trajectory: Trajectory) -> None:
    """Raises `CorruptData` for a judged trajectory that cannot be learned from.

    Called before it is stored: from then on it would be in every replay buffer, also after a restart of the host.
    """
    if not trajectory.steps:
        raise CorruptData(f"Trajectory {trajectory.id!r} was judged without a single step.")
    if not all(math.isfinite(step.decision.logprob) for step in trajectory.steps):
        raise CorruptData(f"Trajectory {trajectory.id!r} holds a log-probability that is not finite.")
