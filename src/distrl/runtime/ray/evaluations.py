"""A list of tasks, dealt out over several workers and put together again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from distrl.errors import Unreachable
from distrl.runtime.ray.clients import original
from distrl.types import Task, Trajectory

RETRY_S = 0.5


class Examiners:
    """Each worker plays its share; the share of one that died is played again from its beginning.

    A learner that dies before it has handed over its weights is waited for: it comes back with those of its last
    checkpoint.
    """

    def __init__(
        self, name: str, tasks: Sequence[Task], workers: Mapping[str, Any], sealed: Callable[[], Any], wait_s: float
    ) -> None:
        """`sealed` gives a reference to the learner's weights; `wait_s` is how long a dead worker, or the learner, may
        take to start again."""
        self.name = name
        self._wait_s = wait_s
        self._without_weights_since: dict[int, float] = {}
        self._died_at: dict[int, float] = {}
        self._count = len(tasks)
        self._workers = list(workers.items())
        self._shares = [tasks[place :: len(workers)] for place in range(len(workers))]
        self._sealed = sealed
        weights = sealed()
        self._jobs = {place: self._start(place, weights) for place in range(len(workers))}
        self._done: dict[int, list[Trajectory]] = {}

    @property
    def finished(self) -> bool:
        return not self._jobs

    def tend(self, wait_s: float) -> list[str]:
        """Wait a moment and take what is finished; returns the names of workers that died and were asked again."""
        done, _ = ray.wait(list(self._jobs.values()), timeout=wait_s)
        lost = []
        for place in [place for place, job in self._jobs.items() if job in done]:
            try:
                self._take(place, ray.get(self._jobs[place]))
            except RayTaskError as error:  # first: when its weights do not come, what a worker raises is both
                self._ask_for_weights_again(place, error)
            except RayActorError:
                if time.monotonic() - self._died_at.get(place, -self._wait_s) >= self._wait_s:
                    self._died_at[place] = time.monotonic()
                    lost.append(self._workers[place][0])
                time.sleep(RETRY_S)
                self._jobs[place] = self._workers[place][1].ready.remote()
        return lost

    def _ask_for_weights_again(self, place: int, error: RayTaskError) -> None:
        """Of a process that died a worker knows only the learner. Raises whatever else a worker raised, and
        `Unreachable` when the learner stays away."""
        cause = original(error)
        if not isinstance(cause, RayActorError):
            raise cause from error
        since = self._without_weights_since.setdefault(place, time.monotonic())
        if time.monotonic() - since >= self._wait_s:
            raise Unreachable("learner", "sealed", self._wait_s, type(cause).__name__) from error
        time.sleep(RETRY_S)
        self._jobs[place] = self._start(place, self._sealed())

    def _take(self, place: int, answer: Any) -> None:
        """An answer came: either that a worker has started again, or its share."""
        if place in self._died_at:
            del self._died_at[place]
            self._without_weights_since.pop(place, None)
            self._jobs[place] = self._start(place, self._sealed())
        else:
            self._done[place] = answer
            del self._jobs[place]

    def count(self) -> tuple[int, int]:
        """Tasks finished so far, and successes among them."""
        finished = [(len(share), sum(t.outcome.success for t in share)) for share in self._done.values()]
        playing = [self._ask(place) for place in self._jobs]
        pairs = [*finished, *playing]
        return sum(done for done, _ in pairs), sum(successes for _, successes in pairs)

    def results(self) -> list[Trajectory]:
        """All trajectories in the order of the tasks."""
        return [self._done[number % len(self._shares)][number // len(self._shares)] for number in range(self._count)]

    def stop(self, wait_s: float) -> None:
        """End it early."""
        for _, worker in self._workers:
            worker.stop.remote()
        if self._jobs:
            ray.wait(list(self._jobs.values()), num_returns=len(self._jobs), timeout=wait_s)

    def _start(self, place: int, weights: Any) -> Any:
        return self._workers[place][1].examine.remote(self.name, self._shares[place], weights)

    def _ask(self, place: int) -> tuple[int, int]:
        try:
            count: tuple[int, int] = ray.get(self._workers[place][1].examined.remote(), timeout=5.0)
            return count
        except RayError:
            return 0, 0  # it is starting again, or too busy to say; this is only for show


@dataclass(frozen=True)
class SideEvaluation:
    """An evaluation that goes on beside training."""

    examiners: Examiners
    worker: Any
    step: int
    """The learner step whose weights it plays."""


class SideEvaluations:
    """Evaluations at equal distances of training time, each by a short-lived worker of its own."""

    def __init__(
        self,
        every_minutes: float | None,
        start: Callable[[int], SideEvaluation],
        keep: Callable[[Examiners, int], None],
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
            if each.examiners.tend(0.0):
                self._end(each)
            elif each.examiners.finished:
                self._keep(each.examiners, each.step)
                self._end(each)

    def close(self) -> None:
        for each in list(self._running):
            self._end(each)

    def _end(self, each: SideEvaluation) -> None:
        self._running.remove(each)
        ray.kill(each.worker)
