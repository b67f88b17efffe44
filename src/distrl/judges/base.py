"""Who decides whether a task was done."""

from __future__ import annotations

from typing import Protocol

from distrl.types import Outcome, Task, Trajectory, Tree


class Judge(Protocol):
    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        """Success or failure of a finished trajectory. `evidence` is what an inspectable device gave,
        or None. Raises when it cannot judge; an infrastructure failure is never an outcome."""
