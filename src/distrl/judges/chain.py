"""Judges in a row: the first that can judge decides."""

from __future__ import annotations

from collections.abc import Sequence

from distrl.errors import CannotJudge
from distrl.judges.base import Closable, Counting, Judge
from distrl.types import Outcome, Task, Trajectory, Tree


class ChainJudge:
    """Rules first, a model second: what can be known is not asked, and no screen can talk a rule into anything."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self._judges = judges

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        """Raises the last one's `CannotJudge`, and at once whatever else goes wrong."""
        *handing_on, last = self._judges
        for judge in handing_on:
            try:
                return await judge.judge(task, trajectory, evidence)
            except CannotJudge:
                continue
        return await last.judge(task, trajectory, evidence)

    async def close(self) -> None:
        for judge in self._judges:
            if isinstance(judge, Closable):
                await judge.close()

    def summary(self) -> Tree:
        """Of those who count."""
        counting = [judge.summary() for judge in self._judges if isinstance(judge, Counting)]
        return {key: value for summary in counting for key, value in summary.items()}
