"""Names for trajectories: unique over workers, restarts and resumes, and the same again in a repeated serial run."""

from __future__ import annotations

import random
import uuid


class TrajectoryIds:
    """Mints UUID4-shaped names. `incarnation` must be a number that no other worker of the run was ever given."""

    def __init__(self, seed: int, incarnation: int) -> None:
        self._rng = random.Random(f"trajectories/{seed}/{incarnation}")

    def __call__(self) -> str:
        return str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
