"""Evaluation of a policy from played episodes: success rates, intervals, comparison. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from distrl.evaluation.statistics import Interval, difference_ci95, wilson
from distrl.types import Trajectory, Tree


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """One task, played once."""

    task_id: str
    template: str
    goal: str
    outcome: Literal["success", "failure", "invalid"]
    steps: int
    invalid_actions: int
    trajectory_id: str = ""

    @property
    def success(self) -> bool:
        return self.outcome == "success"

    @property
    def valid(self) -> bool:
        """False when the device, the judge or the clock failed: such an episode is no evidence about the policy."""
        return self.outcome != "invalid"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Episodes and their statistics. Invalid episodes are counted, but are in no rate and no mean."""

    results: tuple[EpisodeResult, ...]

    @property
    def valid(self) -> tuple[EpisodeResult, ...]:
        return tuple(result for result in self.results if result.valid)

    @property
    def episodes(self) -> int:
        """Number of valid episodes: the denominator of the rates."""
        return len(self.valid)

    @property
    def successes(self) -> int:
        return sum(result.success for result in self.valid)

    @property
    def success(self) -> float:
        """Rate of success, 0 when nothing valid was played."""
        return self.successes / self.episodes if self.episodes else 0.0

    @property
    def ci95(self) -> tuple[float, float]:
        return wilson(self.successes, self.episodes)

    @property
    def invalid(self) -> int:
        """Number of invalid episodes."""
        return len(self.results) - self.episodes

    @property
    def invalid_actions(self) -> int:
        """Malformed actions over all valid episodes."""
        return sum(result.invalid_actions for result in self.valid)

    @property
    def mean_steps(self) -> float:
        return sum(result.steps for result in self.valid) / self.episodes if self.episodes else 0.0

    def by_template(self) -> dict[str, Evaluation]:
        """The same figures for each template, in alphabetical order."""
        groups: dict[str, list[EpisodeResult]] = defaultdict(list)
        for result in self.results:
            groups[result.template].append(result)
        return {template: Evaluation(tuple(groups[template])) for template in sorted(groups)}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two evaluations on the same tasks."""

    before: Evaluation
    after: Evaluation
    difference: Interval
    """Over the tasks that were valid both times."""
    pairs: int

    def summary(self) -> Tree:
        """The content of `summary.json`."""
        return {
            "success_before": self.before.success,
            "success_before_ci95": list(self.before.ci95),
            "success_after": self.after.success,
            "success_after_ci95": list(self.after.ci95),
            "difference": self.difference.estimate,
            "difference_ci95": [self.difference.low, self.difference.high],
            "episodes": self.after.episodes,
            "invalid_before": self.before.invalid,
            "invalid_after": self.after.invalid,
        }


def evaluate(trajectories: Iterable[Trajectory]) -> Evaluation:
    return Evaluation(tuple(result_of(trajectory) for trajectory in trajectories))


def result_of(trajectory: Trajectory) -> EpisodeResult:
    return EpisodeResult(
        task_id=trajectory.task.id,
        template=trajectory.task.template,
        goal=trajectory.task.goal,
        outcome=trajectory.outcome.kind,
        steps=len(trajectory.steps),
        invalid_actions=trajectory.invalid_actions,
        trajectory_id=trajectory.id,
    )


def compare(before: Evaluation, after: Evaluation) -> Comparison:
    """Pair the episodes by task (the k-th time a task was played with the k-th) and estimate the change."""
    later = _numbered(after)
    pairs = [
        (result.success, later[key].success)
        for key, result in _numbered(before).items()
        if key in later and result.valid and later[key].valid
    ]
    difference = difference_ci95([b for b, _ in pairs], [a for _, a in pairs])
    return Comparison(before, after, difference, len(pairs))


def _numbered(evaluation: Evaluation) -> dict[tuple[str, int], EpisodeResult]:
    seen: dict[str, int] = defaultdict(int)
    numbered = {}
    for result in evaluation.results:
        numbered[result.task_id, seen[result.task_id]] = result
        seen[result.task_id] += 1
    return numbered
