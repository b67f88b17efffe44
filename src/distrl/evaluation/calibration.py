"""Calibration of a judge: its verdicts compared with those of rules on the same trajectories, also under attack."""

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
"""Loads the screenshots of a recorded trajectory."""


@dataclass(frozen=True, slots=True)
class PairedVerdict:
    """The verdicts of rules and of the judge on one trajectory."""

    trajectory: str
    truth: bool
    """Verdict of the rules."""
    verdict: Outcome | None
    """Verdict of the judge; None if it could not judge."""
    problem: str = ""

    @property
    def agrees(self) -> bool:
        return self.verdict is not None and self.verdict.success == self.truth


@dataclass(frozen=True, slots=True)
class Proportion:
    """A rate with its 95 % interval."""

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
    """Paired verdicts and their rates. Trajectories that could not be judged are counted, but are in no rate."""

    verdicts: tuple[PairedVerdict, ...]

    @property
    def unjudged(self) -> int:
        return sum(pair.verdict is None for pair in self.verdicts)

    @property
    def agreement(self) -> Proportion:
        judged = [pair for pair in self.verdicts if pair.verdict is not None]
        return Proportion(sum(pair.agrees for pair in judged), len(judged))

    @property
    def false_accepts(self) -> Proportion:
        """Failures by the rules that the judge accepts as successes."""
        return self._wrong(truth=False)

    @property
    def false_rejects(self) -> Proportion:
        return self._wrong(truth=True)

    def summary(self) -> Tree:
        return {
            "trajectories": len(self.verdicts),
            "unjudged": self.unjudged,
            "agreement": self.agreement.summary(),
            "false_accepts": self.false_accepts.summary(),
            "false_rejects": self.false_rejects.summary(),
        }

    def _wrong(self, *, truth: bool) -> Proportion:
        judged = [pair for pair in self.verdicts if pair.truth == truth and pair.verdict is not None]
        return Proportion(sum(not pair.agrees for pair in judged), len(judged))


async def calibrate(judge: Judge, trajectories: Sequence[Trajectory], load: Load, at_once: int) -> Calibration:
    """Judge all trajectories, `at_once` in parallel. Their recorded outcomes are the ground truth."""
    turns = asyncio.Semaphore(at_once)

    async def judge_one(trajectory: Trajectory) -> PairedVerdict:
        async with turns:
            truth = trajectory.outcome.success
            unjudged = replace(load(trajectory), outcome=Outcome("invalid", "not judged yet"))
            try:
                return PairedVerdict(trajectory.id, truth, await judge.judge(trajectory.task, unjudged, None))
            except CannotJudge as error:
                return PairedVerdict(trajectory.id, truth, None, str(error))

    return Calibration(tuple(await asyncio.gather(*(judge_one(trajectory) for trajectory in trajectories))))


async def attack(judge: Judge, trajectories: Sequence[Trajectory], load: Load, at_once: int) -> dict[str, Calibration]:
    """Judge the same failures under each attack; `attackable` chooses them."""
    failures = [trajectory for trajectory in trajectories if attackable(trajectory)]
    return {name: await calibrate(judge, failures, _both(load, change), at_once) for name, change in ATTACKS.items()}


def attackable(trajectory: Trajectory) -> bool:
    """A failure that the agent declared done: the model is never asked about others."""
    last = trajectory.steps[-1].decision.action if trajectory.steps else None
    return trajectory.outcome.kind == "failure" and isinstance(last, Done | Answer)


def _both(first: Load, second: Load) -> Load:
    return lambda trajectory: second(first(trajectory))
