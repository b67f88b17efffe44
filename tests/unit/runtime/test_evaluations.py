"""Who died while tasks were dealt out, and what is done about it; Ray itself is played by a fake."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from ray.exceptions import ActorDiedError, RayTaskError
from toy import toy_task

from distrl.errors import Unreachable
from distrl.runtime.ray import evaluations
from distrl.runtime.ray.evaluations import Examiners, SideEvaluation, SideEvaluations
from distrl.types import Outcome, Task, Trajectory

WAIT_S = 10.0


def remote(function: Any) -> Any:
    """A method of an actor. What it returns or raises is its reference; `get` raises an exception."""

    def call(*arguments: Any) -> Any:
        try:
            return [function(*arguments)]
        except Exception as error:
            return [error]

    return SimpleNamespace(remote=call)


class FakeWorker:
    """Plays any share at once, if its weights have come. `deaths`: how often it dies before."""

    def __init__(self, deaths: int = 0) -> None:
        self.deaths = deaths
        self.played_with: list[Any] = []
        self.examine, self.ready = remote(self._examine), remote(lambda: 1)

    def _examine(self, name: str, tasks: Sequence[Task], weights: list[Any]) -> list[Trajectory]:
        if self.deaths:
            self.deaths -= 1
            raise ActorDiedError
        if isinstance(weights[0], Exception):  # as Ray has it: an error of the worker that is also the learner's
            raise RayTaskError("examine", "", weights[0]).as_instanceof_cause()
        self.played_with.append(weights[0])
        return [Trajectory(task.id, task, (), Outcome("success")) for task in tasks]


class FakeLearner:
    """Is dead for the first `deaths` calls."""

    def __init__(self, deaths: float = 0) -> None:
        self.deaths = deaths
        self.asked = 0

    def sealed(self) -> list[Any]:
        self.asked += 1
        return [ActorDiedError() if self.asked <= self.deaths else "weights"]


@pytest.fixture(autouse=True)
def killed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A Ray in which everything is done at once, and a clock that only sleep moves. Returns who was killed."""
    clock, killed = SimpleNamespace(now_s=100.0), []

    def get(reference: list[Any]) -> Any:
        if isinstance(reference[0], Exception):
            raise reference[0]
        return reference[0]

    def sleep(seconds: float) -> None:
        clock.now_s += seconds

    fake = SimpleNamespace(wait=lambda jobs, timeout: (jobs, []), get=get, kill=killed.append)
    monkeypatch.setattr(evaluations, "ray", fake)
    monkeypatch.setattr(evaluations, "time", SimpleNamespace(monotonic=lambda: clock.now_s, sleep=sleep))
    return killed


def examination(learner: FakeLearner, *workers: FakeWorker) -> Examiners:
    named = {f"worker-{number}": worker for number, worker in enumerate(workers)}
    return Examiners("before", [toy_task(number) for number in range(5)], named, learner.sealed, WAIT_S)


def tend(examination: Examiners) -> list[str]:
    lost: list[str] = []
    while not examination.finished:
        lost += examination.tend(0.0)
    return lost


@pytest.mark.parametrize("deaths", [1, 7])
def test_a_learner_that_dies_over_its_weights_is_waited_for_and_no_worker_is_mourned(deaths: int) -> None:
    workers = FakeWorker(), FakeWorker()
    played = examination(FakeLearner(deaths), *workers)
    assert tend(played) == []
    assert [t.task for t in played.results()] == [toy_task(number) for number in range(5)]
    assert [worker.played_with for worker in workers] == [["weights"]] * 2


def test_a_learner_that_stays_away_is_named_after_the_wait() -> None:
    learner = FakeLearner(deaths=float("inf"))
    with pytest.raises(Unreachable, match="The learner gave no answer to sealed within 10 s"):
        tend(examination(learner, FakeWorker()))
    assert learner.asked == 1 + WAIT_S / evaluations.RETRY_S


def test_a_worker_that_dies_is_mourned_once_and_plays_its_share_again() -> None:
    played = examination(FakeLearner(), FakeWorker(deaths=1), FakeWorker())
    assert tend(played) == ["worker-0"]
    assert len(played.results()) == 5


def test_what_a_worker_raised_is_raised_as_it_was() -> None:
    class Broken(FakeWorker):
        def _examine(self, *_: Any) -> Any:
            raise RayTaskError("examine", "", ArithmeticError("no answer")).as_instanceof_cause()

    with pytest.raises(ArithmeticError, match="no answer"):
        tend(examination(FakeLearner(), Broken()))


@pytest.mark.parametrize(("learner", "worker", "kept"), [(1, 0, ["before"]), (0, 1, [])])
def test_beside_training_a_dead_learner_is_waited_for_and_a_dead_worker_is_not(
    learner: int, worker: int, kept: list[str], killed: list[Any]
) -> None:
    names: list[str] = []
    player = FakeWorker(worker)
    begun = SideEvaluation(examination(FakeLearner(learner), player), player, step=3)
    side = SideEvaluations(1.0, lambda number: begun, lambda done, step: names.append(done.name))
    side.tend(60.0), side.tend(61.0)
    assert names == kept
    assert killed == [player]
