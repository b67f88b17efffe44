"""A chain of judges: the first that can judge decides."""

from __future__ import annotations

from collections.abc import Sequence

from distrl.errors import CannotJudge
from distrl.judges.base import Closable, Counting, Judge
from distrl.types import Outcome, Task, Trajectory, Tree


class ChainJudge:
    """Usually rules first, a model second: no request where a rule can tell, and no prompt injection of a rule."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self._judges = judges

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        """Raises the last judge's `CannotJudge`; any other error is raised at once."""
        *earlier, last = self._judges
        for judge in earlier:
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
        """The merged summaries of the judges that count."""
        counting = [judge.summary() for judge in self._judges if isinstance(judge, Counting)]
        return {key: value for summary in counting for key, value in summary.items()}
