"""The judge protocol: decides whether a task was done."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from distrl.types import Outcome, Task, Trajectory, Tree


class Judge(Protocol):
    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        """Success or failure of a finished trajectory. `evidence` is what an inspectable device gave,
        or None. Raises when it cannot judge; an infrastructure failure is never an outcome.

        It may take minutes; callers should not keep the device waiting for it."""


@runtime_checkable
class Closable(Protocol):
    """A judge that holds connections."""

    async def close(self) -> None: ...


@runtime_checkable
class Counting(Protocol):
    """A judge that counts its requests and their cost."""

    def summary(self) -> Tree: ...
