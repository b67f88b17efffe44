"""The driver: starts the processes, sees to them while the run goes on, and ends them."""

from __future__ import annotations

import hashlib
import time
import uuid
from pathlib import Path

from distrl.errors import ProcessLost, StorageFull, Unreachable
from distrl.runtime.evaluation import EvaluationProgress
from distrl.runtime.interrupt import Interrupt
from distrl.runtime.join_requests import JoinRequest, JoinStatus
from distrl.runtime.limits import TrainingLimits
from distrl.runtime.progress import Progress
from distrl.runtime.ray.actors import LearnerActor
from distrl.runtime.ray.cluster import LOCAL, Cluster
from distrl.runtime.ray.evaluations import ParallelEvaluation, SideEvaluation, SideEvaluations
from distrl.runtime.ray.handle import RemoteCall
from distrl.runtime.ray.host_actor import HostActor
from distrl.runtime.ray.joined_workers import JoinedWorkers
from distrl.runtime.ray.own_processes import OwnProcesses
from distrl.runtime.ray.placement import Placement
from distrl.runtime.ray.process_supervisor import Supervised
from distrl.runtime.topology import Builder
from distrl.types import VersionedWeights

WATCH_S = 0.5
MARK_S = 10.0
SHORT_WAIT_S = 10.0
"""For answers that the run can do without."""

FIRST_SIDE_NUMBER = 10_000
"""Worker numbers seed their policies; those of side evaluations start here."""

NAMESPACE = "distrl-"


class RayRun:
    """One run on Ray, from the store it finds to the store it leaves."""

    def __init__(self, builder: Builder, progress: Progress, interrupt: Interrupt) -> None:
        self.builder = builder
        self.config = builder.config
        self.progress = progress
        self.interrupt = interrupt
        self.wait_s = self.config.runtime.wait_s
        self._stats: dict[str, float] = {}
        self._answered_at = time.monotonic()
        self._marked_at = time.monotonic()
        self._cluster = Cluster(self.config.runtime, builder.folder, namespace_of(self.config.run.name))
        interrupt.listen()  # Ray takes SIGTERM for itself
        if self._cluster.join_command:
            progress.message(f"Other machines join with\n    {self._cluster.join_command}")
        try:
            self._placement = Placement(builder)
            self._host = self._placement.host()
            self._own = OwnProcesses(self.config, self._placement, self._host, progress)
            self._host.ask(HostActor.ready)
            self._own.wait_until_ready()
            trained_s = self._host.ask_patiently(HostActor.trained_s)
            self.limits = TrainingLimits(self.config.run, time.time, trained_s)
        except BaseException:
            self._cluster.close()
            raise

    # -- what a runtime does

    def evaluated(self) -> list[str]:
        return self._host.ask_patiently(HostActor.evaluated)

    def evaluate(self, name: str) -> None:
        """On all workers at once, while none of them plays for training."""
        tasks = self.builder.evaluation_tasks()
        step = self._own.learner_handle.ask_patiently(LearnerActor.steps)
        evaluation = ParallelEvaluation(
            name,
            tasks,
            list(self._own.workers.values()),
            self._sealed,
            max_restarts=self.config.runtime.max_restarts,
            wait_s=self.wait_s,
            on_death=self._own.died_in_evaluation,
        )
        progress = EvaluationProgress(name, len(tasks), self.progress)
        while not evaluation.complete and not self.interrupt.requested:
            evaluation.tend(WATCH_S)
            progress.count(*evaluation.count(), self._host.ask_patiently(HostActor.quarantined))
        if self.interrupt.requested:
            evaluation.stop(self.wait_s)
        else:
            self._keep(evaluation, step)

    def train(self) -> None:
        """Until a limit is reached or somebody asks us to stop; then there is a checkpoint."""
        self.limits.start()
        supervisor = self._own.train()
        joined = JoinedWorkers(
            self.builder,
            run_identity(self.builder.folder),
            lambda: list(self._own.workers),
            self._host,
            self.progress.message,
        )
        side = SideEvaluations(self.config.evaluation.every_minutes, self._start_side_evaluation, self._keep)
        stop_s = SHORT_WAIT_S  # an error is not kept waiting behind workers that may wait for what caused it
        try:
            while not self._ends():
                supervisor.tend(WATCH_S)
                side.tend(self.limits.trained_s)
                if self._joinable:
                    joined.tend(self._join_requests)
            stop_s = self.wait_s
        finally:
            self.limits.stop()
            self._own.stop(stop_s)
            joined.stop(stop_s)
            side.close()
        if self._joinable and not self.interrupt.requested:  # else machines wait for the training to be resumed
            self._end_joining("the training is over")
        self._host.ask_patiently(HostActor.mark, self.limits.trained_s)
        self._own.settle_learner()
        self._own.learner_handle.ask_patiently(LearnerActor.checkpoint)

    def close(self) -> None:
        try:
            self._host.start(HostActor.close).result(SHORT_WAIT_S)
        except Unreachable:
            pass  # it is being ended anyway, and what it acknowledged is on disk
        finally:
            self._own.kill()
            self._host.kill()
            self._cluster.close()

    # -- evaluations

    def _start_side_evaluation(self, number: int) -> SideEvaluation:
        """Another worker, with the learner's weights of this moment, beside those that go on playing."""
        name = f"evaluation-{number}"
        # With a policy of its own: the servers hold newer weights than those to be evaluated.
        handle = self._placement.worker(name, FIRST_SIDE_NUMBER + number, restarts=0, remote=False)
        worker = Supervised(name, handle)
        minutes = (self.config.evaluation.every_minutes or 0.0) * number
        tasks = self.builder.evaluation_tasks()
        evaluation = ParallelEvaluation(
            f"minute-{minutes:g}", tasks, [worker], self._sealed, max_restarts=0, wait_s=self.wait_s
        )
        return SideEvaluation(evaluation, worker, int(self._stats.get("learner_steps", 0)))

    def _sealed(self) -> RemoteCall[VersionedWeights]:
        return self._own.learner_handle.start(LearnerActor.sealed)

    def _keep(self, evaluation: ParallelEvaluation, step: int) -> None:
        self._host.ask_patiently(HostActor.keep_evaluation, evaluation.name, step, evaluation.results())

    # -- the host

    @property
    def _joinable(self) -> bool:
        return self.config.runtime.listen is not None or self.config.runtime.address != LOCAL

    def _join_requests(self, statuses: dict[str, JoinStatus]) -> list[JoinRequest]:
        """Of machines that want to play. A host that starts again has none for a moment."""
        try:
            return self._host.start(HostActor.join_requests, statuses).result(SHORT_WAIT_S)
        except Unreachable:
            return []

    def _end_joining(self, why: str) -> None:
        """Send the machines home that joined. One that does not hear it in time would wait for a resume."""
        deadline = time.monotonic() + SHORT_WAIT_S
        while time.monotonic() < deadline:
            try:
                if not self._host.start(HostActor.end_joining, why).result(SHORT_WAIT_S):
                    return
            except Unreachable:
                pass  # it starts again, and then hears of everybody again
            time.sleep(WATCH_S)

    def _ends(self) -> bool:
        """Look at the figures, show them, and see whether a limit is reached."""
        self._update_stats()
        times = {"phase": "train", "elapsed_s": self.limits.trained_s, "limit_s": self.limits.limit_s}
        self.progress.update({**times, **self._stats})
        return self.interrupt.requested or self.limits.reached(self._stats)

    def _update_stats(self) -> None:
        now = time.monotonic()
        try:
            self._stats = self._host.start(HostActor.stats).result(5.0)
            if now - self._marked_at > MARK_S:
                self._host.ask_patiently(HostActor.mark, self.limits.trained_s)
                self._marked_at = now
            self._answered_at = now
        except StorageFull:
            self._answered_at = now  # it lives, and holds the workers until there is room
        except Unreachable as error:
            if now - self._answered_at > self.wait_s:
                raise ProcessLost("host", self.config.runtime.max_restarts + 1, self.config.run_folder) from error


def namespace_of(run: str) -> str:
    """Where the processes of one launch of a run find each other. Ends in the run's name, for whoever wants to join."""
    return f"{NAMESPACE}{uuid.uuid4().hex}-{run}"


def run_identity(folder: Path) -> str:
    """The same for a run over all of its resumes, and another one for every other run, also of this name."""
    return f"{folder.name}-{hashlib.sha256((folder / 'meta.json').read_bytes()).hexdigest()[:12]}"
