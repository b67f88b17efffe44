"""A judge that takes no time, for benches that measure everything but judging."""

from __future__ import annotations

from distrl.types import Outcome, Task, Trajectory, Tree


class FixedOutcomeJudge:
    """Gives every trajectory the same outcome."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        return self._outcome


ALWAYS_SUCCESS = FixedOutcomeJudge(Outcome("success"))
