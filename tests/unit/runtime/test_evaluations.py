"""Who died while tasks were dealt out, and what is done about it; Ray itself is played by a fake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import local_ray
import pytest
from local_ray import local
from ray.exceptions import ActorDiedError
from toy import toy_task

from distrl.errors import Unreachable
from distrl.runtime.ray.evaluations import ParallelEvaluation, SideEvaluation, SideEvaluations
from distrl.runtime.ray.process_supervisor import RETRY_S, Supervised
from distrl.types import Outcome, Task, Trajectory

WAIT_S = 10.0


class FakeWorker:
    """Plays any share at once, if its weights have come. `deaths`: how often it dies before."""

    def __init__(self, deaths: int = 0) -> None:
        self.deaths = deaths
        self.played_with: list[Any] = []

    def ready(self) -> int:
        return 1

    def evaluate(self, name: str, tasks: Sequence[Task], weights: Any) -> list[Trajectory]:
        if self.deaths:
            self.deaths -= 1
            raise ActorDiedError
        self.played_with.append(weights)
        return [Trajectory(task.id, task, (), Outcome("success")) for task in tasks]


class FakeLearner:
    """Is dead for the first `deaths` calls."""

    def __init__(self, deaths: float = 0) -> None:
        self.deaths = deaths
        self.asked = 0

    def sealed(self) -> str:
        self.asked += 1
        if self.asked <= self.deaths:
            raise ActorDiedError
        return "weights"


@pytest.fixture(autouse=True)
def ray(monkeypatch: pytest.MonkeyPatch) -> local_ray.Ray:
    return local_ray.install(monkeypatch)


def evaluation(
    learner: FakeLearner, *workers: FakeWorker, restarts: int = 3, lost: list[str] | None = None
) -> ParallelEvaluation:
    named = [Supervised(f"worker-{number}", local(worker), up=True) for number, worker in enumerate(workers)]
    tasks, heard = [toy_task(number) for number in range(5)], lost if lost is not None else []
    source = local(learner, "learner")
    return ParallelEvaluation(
        "before",
        tasks,
        named,
        lambda: source.start(FakeLearner.sealed),
        max_restarts=restarts,
        wait_s=WAIT_S,
        on_death=lambda worker, restarts: heard.append(worker.name),
    )


def tend(evaluation: ParallelEvaluation) -> None:
    while not evaluation.complete:
        evaluation.tend(0.0)


@pytest.mark.parametrize("deaths", [1, 7])
def test_a_learner_that_dies_over_its_weights_is_waited_for_and_no_worker_counts_as_dead(deaths: int) -> None:
    workers, lost = (FakeWorker(), FakeWorker()), []
    played = evaluation(FakeLearner(deaths), *workers, lost=lost)
    tend(played)
    assert lost == []
    assert [t.task for t in played.results()] == [toy_task(number) for number in range(5)]
    assert [worker.played_with for worker in workers] == [["weights"]] * 2


def test_a_learner_that_stays_away_is_named_after_the_wait() -> None:
    learner = FakeLearner(deaths=float("inf"))
    with pytest.raises(Unreachable, match="The learner gave no answer to sealed within 10 s"):
        tend(evaluation(learner, FakeWorker()))
    assert learner.asked == 1 + WAIT_S / RETRY_S


def test_a_worker_that_dies_is_reported_once_and_plays_its_share_again() -> None:
    lost: list[str] = []
    played = evaluation(FakeLearner(), FakeWorker(deaths=1), FakeWorker(), lost=lost)
    tend(played)
    assert lost == ["worker-0"]
    assert len(played.results()) == 5


def test_what_a_worker_raised_is_raised_as_it_was() -> None:
    class Broken(FakeWorker):
        def evaluate(self, *_: Any) -> Any:
            raise ArithmeticError("no answer")

    with pytest.raises(ArithmeticError, match="no answer"):
        tend(evaluation(FakeLearner(), Broken()))


@pytest.mark.parametrize(("learner", "worker", "kept"), [(1, 0, ["before"]), (0, 1, [])])
def test_beside_training_a_dead_learner_is_waited_for_and_a_dead_worker_is_not(
    learner: int, worker: int, kept: list[str], ray: local_ray.Ray
) -> None:
    names: list[str] = []
    begun = evaluation(FakeLearner(learner), FakeWorker(worker), restarts=0)
    player = Supervised("evaluation-1", local(FakeWorker()))
    side = SideEvaluations(
        1.0, lambda _: SideEvaluation(begun, player, step=3), lambda done, _: names.append(done.name)
    )
    side.tend(60.0), side.tend(61.0)
    assert names == kept
    assert ray.killed == [player.handle.actor]
