"""The driver: starts the processes, watches them, asks again what a dead one was doing, and ends them."""

from __future__ import annotations

import hashlib
import time
import uuid
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from distrl.errors import ProcessLost, StorageFull, Unreachable
from distrl.runtime.evaluation import Tracker
from distrl.runtime.interrupt import Interrupt
from distrl.runtime.join_requests import JoinRequest, JoinStatus
from distrl.runtime.limits import TrainingLimits
from distrl.runtime.progress import Progress
from distrl.runtime.ray.clients import answer, original, patient_answer
from distrl.runtime.ray.cluster import LOCAL, Cluster
from distrl.runtime.ray.evaluations import Examiners, SideEvaluation, SideEvaluations
from distrl.runtime.ray.joined_workers import Guests
from distrl.runtime.ray.placement import Placement
from distrl.runtime.topology import Builder, topology

SLICE_S = 2.0
"""The learner works this long before the driver may ask it for something else."""
WATCH_S = 0.5
MARK_S = 10.0
HURRY_S = 10.0
"""How long we wait for answers that would only be nice to have."""

FIRST_SIDE_NUMBER = 10_000
"""Worker numbers seed their policies; those of side evaluations start here."""

NAMESPACE = "distrl-"

Jobs = dict[str, Any]
"""Name of a process → reference to what it is doing."""


class RayRun:
    """One run on Ray, from the store it finds to the store it leaves."""

    def __init__(self, builder: Builder, progress: Progress, interrupt: Interrupt) -> None:
        self.builder = builder
        self.config = builder.config
        self.progress = progress
        self.interrupt = interrupt
        self.wait_s = self.config.runtime.wait_s
        self._deaths: dict[str, int] = {}
        self._died_at: dict[str, float] = {}
        """When a process died that has not said again that it is ready."""
        self._stats: dict[str, float] = {}
        self._said = ""
        self._heard_at = time.monotonic()
        self._marked_at = time.monotonic()
        self._cluster = Cluster(self.config.runtime, builder.folder, namespace_of(self.config.run.name))
        interrupt.listen()  # Ray takes SIGTERM for itself
        if self._cluster.join_command:
            progress.message(f"Other machines join with\n    {self._cluster.join_command}")
        try:
            self._start_processes()
            self.pids = self._wait_until_ready()
            self.limits = TrainingLimits(self.config.run, time.time, self._ask_host("trained_s"))
        except BaseException:
            self._cluster.close()
            raise

    # -- what a runtime does

    def evaluated(self) -> list[str]:
        return list(self._ask_host("evaluated"))

    def evaluate(self, name: str) -> None:
        """On all workers at once, while none of them plays for training."""
        tasks = self.builder.evaluation_tasks()
        step = patient_answer("learner", "steps", self.learner.steps.remote, self.wait_s)
        examiners = Examiners(name, tasks, self.workers, self.learner.sealed.remote, self.wait_s)
        tracker = Tracker(name, len(tasks), self.progress)
        while not examiners.finished and not self.interrupt.requested:
            for lost in examiners.tend(WATCH_S):
                if not self._on_process_death(lost):
                    raise ProcessLost(lost, self._deaths[lost], self.config.run_folder)
            tracker.count(*examiners.count(), int(self._ask_host("quarantined")))
        if self.interrupt.requested:
            examiners.stop(self.wait_s)
        else:
            self._keep(examiners, step)

    def train(self) -> None:
        """Until a limit is reached or somebody asks us to stop; then there is a checkpoint."""
        self.limits.start()
        jobs = {name: self._job(name) for name in ("learner", *self.servers, *self.workers)}
        guests = Guests(
            self.builder,
            run_identity(self.builder.folder),
            lambda: list(self.workers),
            self._ask_host,
            self.progress.message,
        )
        side = SideEvaluations(self.config.evaluation.every_minutes, self._start_side_evaluation, self._keep)
        patience_s = HURRY_S  # an error is not kept waiting behind workers that may wait for what caused it
        try:
            while not self._ends():
                self._tend(jobs)
                side.tend(self.limits.trained_s)
                if self._joinable:
                    guests.tend(self._join_requests)
            patience_s = self.wait_s
        finally:
            self.limits.stop()
            self._stop_workers(jobs, patience_s)
            guests.stop(patience_s)
            side.close()
        if self._joinable and not self.interrupt.requested:  # else machines wait for the training to be resumed
            self._end_joining("the training is over")
        self._ask_host("mark", self.limits.trained_s)
        self._settle_learner(jobs["learner"])
        patient_answer("learner", "checkpoint", self.learner.checkpoint.remote, self.wait_s)

    def close(self) -> None:
        try:
            answer("host", "close", self.host.call.remote("close"), HURRY_S)
        except Unreachable:
            pass  # it is being ended anyway, and what it acknowledged is on disk
        finally:
            for process in (*self.workers.values(), *self.servers.values(), self.learner, self.host):
                ray.kill(process)
            self._cluster.close()

    # -- processes

    def _start_processes(self) -> None:
        names = topology(self.config)
        self._placement = Placement(self.builder)
        self.host = self._placement.host()
        self.learner = self._placement.learner()
        self.servers = {name: self._placement.server(name, number) for number, name in enumerate(names.servers)}
        self.workers = {name: self._placement.worker(name, number) for number, name in enumerate(names.workers)}

    def _wait_until_ready(self) -> dict[str, int]:
        """Process ids by name. Raises what a process raised while it started."""
        processes = {"host": self.host, "learner": self.learner, **self.servers, **self.workers}
        asked = {name: process.ready.remote() for name, process in processes.items()}
        return {name: answer(name, "start", reference, self.wait_s) for name, reference in asked.items()}

    def _start_side_evaluation(self, number: int) -> SideEvaluation:
        """Another worker, with the learner's weights of this moment, beside those that go on playing."""
        name = f"evaluation-{number}"
        # With a policy of its own: the servers hold newer weights than those to be examined.
        worker = self._placement.worker(name, FIRST_SIDE_NUMBER + number, restarts=0, remote=False)
        minutes = (self.config.evaluation.every_minutes or 0.0) * number
        tasks = self.builder.evaluation_tasks()
        examiners = Examiners(f"minute-{minutes:g}", tasks, {name: worker}, self.learner.sealed.remote, self.wait_s)
        return SideEvaluation(examiners, worker, int(self._stats.get("learner_steps", 0)))

    def _keep(self, examiners: Examiners, step: int) -> None:
        self._ask_host("keep_evaluation", examiners.name, step, examiners.results())

    def _job(self, name: str) -> Any:
        process = self.learner if name == "learner" else self.servers.get(name) or self.workers[name]
        if name in self._died_at:
            return process.ready.remote()
        if name == "learner":
            return self.learner.work.remote(SLICE_S, self.config.run.learner_steps)
        return process.follow.remote() if name in self.servers else process.play.remote()

    def _tend(self, jobs: Jobs) -> None:
        """Wait a moment; whoever has finished or died in it gets work again."""
        done, _ = ray.wait(list(jobs.values()), timeout=WATCH_S)
        for name in [name for name, job in jobs.items() if job in done]:
            if self._outlived(name, jobs[name]):
                jobs[name] = self._job(name)
            else:
                del jobs[name]

    def _outlived(self, name: str, job: Any) -> bool:
        """Whether the process may be given work again. Raises what it raised, unless waiting helps."""
        try:
            ray.get(job)
            self._died_at.pop(name, None)
        except RayActorError:
            return self._starts_again(name) or self._on_process_death(name)
        except RayTaskError as error:
            cause = original(error)
            if not isinstance(cause, StorageFull | Unreachable):
                raise cause from error
            self._say_once(f"{name}: {cause}")
            time.sleep(1.0)  # the one thing that helps here is time
        return True

    def _say_once(self, text: str) -> None:
        if text != self._said:
            self.progress.message(text)
        self._said = text

    def _starts_again(self, name: str) -> bool:
        """Whether this is still the death we know of: until the new process is up, every call fails as the last did."""
        if time.monotonic() - self._died_at.get(name, -self.wait_s) >= self.wait_s:
            return False
        time.sleep(WATCH_S)
        return True

    def _on_process_death(self, name: str) -> bool:
        """A process died. True if Ray starts it again; raises `ProcessLost` when the run cannot go on without it."""
        self._died_at[name] = time.monotonic()
        self._deaths[name] = self._deaths.get(name, 0) + 1
        if name in self.workers:
            self._ask_host("lose_worker", name)
        if self._deaths[name] <= self.config.runtime.max_restarts:
            self.progress.message(f"The {name} died and is started again.")
            return True
        kind = self.servers if name in self.servers else self.workers
        kind.pop(name, None)
        if name == "learner" or not kind:
            raise ProcessLost(name, self._deaths[name], self.config.run_folder)
        self.progress.message(f"The {name} died too often; the others go on without it.")
        return False

    def _settle_learner(self, job: Any) -> None:
        """Wait for the end of its step. One that died in it is waited for, and goes on from its last checkpoint."""
        while True:
            done, _ = ray.wait([job], timeout=self.wait_s)
            if not done:
                raise Unreachable("learner", "the end of its step", self.wait_s)
            self._outlived("learner", job)
            if "learner" not in self._died_at:
                return
            job = self.learner.ready.remote()

    def _stop_workers(self, jobs: Jobs, wait_s: float) -> None:
        """They give back what they are playing and deliver what is finished; who does not answer is left behind."""
        for processes in (self.workers, self.servers):  # in this order: a worker that ends may still ask a server
            for process in processes.values():
                process.stop.remote()
            busy = [job for name, job in jobs.items() if name in processes]
            if busy:
                ray.wait(busy, num_returns=len(busy), timeout=wait_s)

    # -- the host

    @property
    def _joinable(self) -> bool:
        return self.config.runtime.listen is not None or self.config.runtime.address != LOCAL

    def _join_requests(self, statuses: dict[str, JoinStatus]) -> list[JoinRequest]:
        """Of machines that want to play. A host that starts again has none for a moment."""
        try:
            asked = self.host.join_requests.remote(statuses)
            requests: list[JoinRequest] = answer("host", "join_requests", asked, HURRY_S)
        except Unreachable:
            return []
        return requests

    def _end_joining(self, why: str) -> None:
        """Send the machines home that joined. One that does not hear it in time would wait for a resume."""
        deadline = time.monotonic() + HURRY_S
        while time.monotonic() < deadline:
            try:
                if not answer("host", "end_joining", self.host.end_joining.remote(why), HURRY_S):
                    return
            except Unreachable:
                pass  # it starts again, and then hears of everybody again
            time.sleep(WATCH_S)

    def _ask_host(self, method: str, *arguments: Any) -> Any:
        return patient_answer("host", method, lambda: self.host.call.remote(method, *arguments), self.wait_s)

    def _ends(self) -> bool:
        """Look at the figures, show them, and see whether a limit is reached."""
        self._listen_to_host()
        times = {"phase": "train", "elapsed_s": self.limits.trained_s, "limit_s": self.limits.limit_s}
        self.progress.update({**times, **self._stats})
        return self.interrupt.requested or self.limits.reached(self._stats)

    def _listen_to_host(self) -> None:
        now = time.monotonic()
        try:
            self._stats = answer("host", "stats", self.host.call.remote("stats"), 5.0)
            if now - self._marked_at > MARK_S:
                self._ask_host("mark", self.limits.trained_s)
                self._marked_at = now
            self._heard_at = now
        except StorageFull:
            self._heard_at = now  # it lives, and holds the workers until there is room
        except Unreachable as error:
            if now - self._heard_at > self.wait_s:
                raise ProcessLost("host", self.config.runtime.max_restarts + 1, self.config.run_folder) from error


def namespace_of(run: str) -> str:
    """Where the processes of one launch of a run find each other. Ends in the run's name, for whoever wants to join."""
    return f"{NAMESPACE}{uuid.uuid4().hex}-{run}"


def run_identity(folder: Path) -> str:
    """The same for a run over all of its resumes, and another one for every other run, also of this name."""
    return f"{folder.name}-{hashlib.sha256((folder / 'meta.json').read_bytes()).hexdigest()[:12]}"
