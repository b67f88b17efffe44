"""A list of tasks, dealt out over several workers and put together again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ray.exceptions import RayActorError

from distrl.errors import Unreachable
from distrl.runtime.ray.actors import WorkerActor
from distrl.runtime.ray.handle import RemoteCall
from distrl.runtime.ray.process_supervisor import RETRY_S, Duties, ProcessSupervisor, Supervised, stop_jobs
from distrl.types import Task, Trajectory, VersionedWeights

PROGRESS_S = 5.0
"""How long a worker may take to say how far it is; this is only for show."""

OnDeath = Callable[[Supervised, bool], None]


class ParallelEvaluation(Duties):
    """Each worker plays its share; the share of one that died is played again from its beginning.

    A learner that dies before it has handed over its weights is waited for: it comes back with those of its last
    checkpoint.
    """

    def __init__(
        self,
        name: str,
        tasks: Sequence[Task],
        workers: Sequence[Supervised],
        sealed: Callable[[], RemoteCall[VersionedWeights]],
        *,
        max_restarts: int,
        wait_s: float,
        on_death: OnDeath = lambda worker, restarts: None,
    ) -> None:
        """`sealed` asks for the learner's weights; `wait_s` is how long a dead worker, or the learner, may take to
        start again. A worker that is not started again ends the evaluation; `on_death` hears of it, and may raise."""
        self.name = name
        self.lost = False
        """A worker died that is not started again: there will be no results."""
        self._wait_s = wait_s
        self._on_death = on_death
        self._count = len(tasks)
        self._workers = list(workers)
        self._shares = {each.name: tasks[place :: len(workers)] for place, each in enumerate(workers)}
        self._results: dict[str, list[Trajectory]] = {}
        self._sealed = sealed
        weights = sealed()
        self._first_weights = {each.name: weights for each in workers}
        self._without_weights_since: dict[str, float] = {}
        self._supervisor = ProcessSupervisor(self, max_restarts=max_restarts, wait_s=wait_s)
        for worker in workers:
            self._supervisor.watch(worker)

    @property
    def complete(self) -> bool:
        return len(self._results) == len(self._workers)

    def tend(self, timeout_s: float) -> None:
        """Wait a moment and take what is finished."""
        self._supervisor.tend(timeout_s)

    def count(self) -> tuple[int, int]:
        """Tasks finished so far, and successes among them."""
        finished = [(len(share), sum(t.outcome.success for t in share)) for share in self._results.values()]
        playing = [self._progress(worker) for worker in self._workers if worker.name not in self._results]
        pairs = [*finished, *playing]
        return sum(done for done, _ in pairs), sum(successes for _, successes in pairs)

    def results(self) -> list[Trajectory]:
        """All trajectories in the order of the tasks."""
        shares = [self._results[worker.name] for worker in self._workers]
        return [shares[number % len(shares)][number // len(shares)] for number in range(self._count)]

    def stop(self, wait_s: float) -> None:
        """End it early."""
        stop_jobs(self._workers, WorkerActor.stop, wait_s)

    # -- what its workers are there for

    def job(self, process: Supervised) -> RemoteCall[Any] | None:
        if process.name in self._results:
            return None
        weights = self._first_weights.pop(process.name, None) or self._sealed()
        return process.handle.start(WorkerActor.evaluate, self.name, self._shares[process.name], weights.reference)

    def finished(self, process: Supervised, result: list[Trajectory]) -> None:
        self._results[process.name] = result

    def raised(self, process: Supervised, error: Exception) -> bool:
        """Of a learner that died over its weights a worker knows only that a process died: they are asked for again."""
        if not isinstance(error, RayActorError):
            raise error
        since = self._without_weights_since.setdefault(process.name, time.monotonic())
        if time.monotonic() - since >= self._wait_s:
            raise Unreachable("learner", "sealed", self._wait_s, type(error).__name__) from error
        time.sleep(RETRY_S)
        return True

    def died(self, process: Supervised, *, restarts: bool) -> bool:
        self._without_weights_since.pop(process.name, None)
        self._on_death(process, restarts)
        self.lost = not restarts
        return restarts

    def _progress(self, worker: Supervised) -> tuple[int, int]:
        try:
            return worker.handle.start(WorkerActor.progress).result(PROGRESS_S)
        except Unreachable:
            return 0, 0  # it is starting again, or too busy to say


@dataclass(frozen=True)
class SideEvaluation:
    """An evaluation that goes on beside training."""

    evaluation: ParallelEvaluation
    worker: Supervised
    step: int
    """The learner step whose weights it plays."""


class SideEvaluations:
    """Evaluations at equal distances of training time, each by a short-lived worker of its own."""

    def __init__(
        self,
        every_minutes: float | None,
        start: Callable[[int], SideEvaluation],
        keep: Callable[[ParallelEvaluation, int], None],
    ) -> None:
        self._every_s = 60.0 * every_minutes if every_minutes else float("inf")
        self._start = start
        self._keep = keep
        self._started = 0
        self._running: list[SideEvaluation] = []

    def tend(self, trained_s: float) -> None:
        """Start what is due and keep what is finished; one whose worker died is given up, the next comes soon."""
        if trained_s >= self._every_s * (self._started + 1):
            self._started = int(trained_s // self._every_s)
            self._running.append(self._start(self._started))
        for each in list(self._running):
            each.evaluation.tend(0.0)
            if each.evaluation.complete:
                self._keep(each.evaluation, each.step)
            if each.evaluation.complete or each.evaluation.lost:
                self._end(each)

    def close(self) -> None:
        for each in list(self._running):
            self._end(each)

    def _end(self, each: SideEvaluation) -> None:
        self._running.remove(each)
        each.worker.handle.kill()
