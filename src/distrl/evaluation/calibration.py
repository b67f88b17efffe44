"""How far a judge can be trusted: its verdicts beside those of rules, on the same trajectories, also under attack."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from distrl.errors import CannotJudge
from distrl.evaluation.attacks import ATTACKS
from distrl.evaluation.statistics import wilson
from distrl.judges.base import Judge
from distrl.types import Answer, Done, Outcome, Trajectory, Tree

Load = Callable[[Trajectory], Trajectory]
"""Gives a recorded trajectory its screenshots back."""


@dataclass(frozen=True, slots=True)
class PairedVerdict:
    """One trajectory, judged twice."""

    trajectory: str
    truth: bool
    """What the rules said."""
    verdict: Outcome | None
    """What the judge says; None where it could not judge."""
    problem: str = ""

    @property
    def agrees(self) -> bool:
        return self.verdict is not None and self.verdict.success == self.truth


@dataclass(frozen=True, slots=True)
class Proportion:
    count: int
    n: int

    @property
    def ci95(self) -> tuple[float, float]:
        return wilson(self.count, self.n)

    def summary(self) -> Tree:
        return {
            "count": self.count,
            "n": self.n,
            "rate": self.count / self.n if self.n else None,
            "ci95": list(self.ci95),
        }


@dataclass(frozen=True, slots=True)
class Calibration:
    """Opinions and the rates they give. What could not be judged is counted, and is in no rate."""

    opinions: tuple[PairedVerdict, ...]

    @property
    def unjudged(self) -> int:
        return sum(opinion.verdict is None for opinion in self.opinions)

    @property
    def agreement(self) -> Proportion:
        judged = [opinion for opinion in self.opinions if opinion.verdict is not None]
        return Proportion(sum(opinion.agrees for opinion in judged), len(judged))

    @property
    def false_accepts(self) -> Proportion:
        """Failures by the rules that the judge takes for successes."""
        return self._wrong(truth=False)

    @property
    def false_rejects(self) -> Proportion:
        return self._wrong(truth=True)

    def summary(self) -> Tree:
        return {
            "trajectories": len(self.opinions),
            "unjudged": self.unjudged,
            "agreement": self.agreement.summary(),
            "false_accepts": self.false_accepts.summary(),
            "false_rejects": self.false_rejects.summary(),
        }

    def _wrong(self, *, truth: bool) -> Proportion:
        judged = [opinion for opinion in self.opinions if opinion.truth == truth and opinion.verdict is not None]
        return Proportion(sum(not opinion.agrees for opinion in judged), len(judged))


async def calibrate(judge: Judge, trajectories: Sequence[Trajectory], load: Load, at_once: int) -> Calibration:
    """Ask the judge about each, so many at once. The outcomes that the trajectories carry are the truth."""
    turns = asyncio.Semaphore(at_once)

    async def opinion_on(trajectory: Trajectory) -> PairedVerdict:
        async with turns:
            truth = trajectory.outcome.success
            unjudged = replace(load(trajectory), outcome=Outcome("invalid", "not judged yet"))
            try:
                return PairedVerdict(trajectory.id, truth, await judge.judge(trajectory.task, unjudged, None))
            except CannotJudge as error:
                return PairedVerdict(trajectory.id, truth, None, str(error))

    return Calibration(tuple(await asyncio.gather(*(opinion_on(trajectory) for trajectory in trajectories))))


async def attack(judge: Judge, trajectories: Sequence[Trajectory], load: Load, at_once: int) -> dict[str, Calibration]:
    """The same failures under each attack; `attackable` says which ones."""
    failures = [trajectory for trajectory in trajectories if attackable(trajectory)]
    return {name: await calibrate(judge, failures, _both(load, change), at_once) for name, change in ATTACKS.items()}


def attackable(trajectory: Trajectory) -> bool:
    """A failure that the agent called done: no model is asked about any other."""
    last = trajectory.steps[-1].decision.action if trajectory.steps else None
    return trajectory.outcome.kind == "failure" and isinstance(last, Done | Answer)


def _both(first: Load, second: Load) -> Load:
    return lambda trajectory: second(first(trajectory))
