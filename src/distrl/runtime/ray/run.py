"""The driver: starts the processes, watches them, asks again what a dead one was doing, and ends them."""

from __future__ import annotations

import time
import uuid
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from distrl.errors import ProcessLost, StorageFull, Unreachable
from distrl.runtime.examination import Tracker
from distrl.runtime.interrupt import Interrupt
from distrl.runtime.limits import Limits
from distrl.runtime.progress import Progress
from distrl.runtime.ray.actors import HostActor, LearnerActor, WorkerActor
from distrl.runtime.ray.clients import answer, original, patient_answer
from distrl.runtime.ray.cluster import Cluster
from distrl.runtime.ray.examiners import Examiners, SideEvaluation, SideEvaluations
from distrl.runtime.topology import Parts, topology

SLICE_S = 2.0
"""The learner works this long before the driver may ask it for something else."""
WATCH_S = 0.5
MARK_S = 10.0
HURRY_S = 10.0
"""How long we wait for answers that would only be nice to have."""

FIRST_SIDE_NUMBER = 10_000
"""Worker numbers seed their policies; those of side evaluations start here."""

Jobs = dict[str, Any]
"""Name of a process → reference to what it is doing."""


class RayRun:
    """One run on Ray, from the store it finds to the store it leaves."""

    def __init__(self, parts: Parts, progress: Progress, interrupt: Interrupt) -> None:
        self.parts = parts
        self.config = parts.config
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
        self._cluster = Cluster(self.config.runtime, parts.folder, f"distrl-{uuid.uuid4().hex}")
        interrupt.listen()  # Ray takes SIGTERM for itself
        try:
            self._start_processes()
            self.pids = self._wait_until_ready()
            self.limits = Limits(self.config.run, time.time, self._ask_host("trained_s"))
        except BaseException:
            self._cluster.close()
            raise

    # -- what a runtime does

    def evaluated(self) -> list[str]:
        return list(self._ask_host("evaluated"))

    def evaluate(self, name: str) -> None:
        """On all workers at once, while none of them plays for training."""
        tasks = self.parts.evaluation_tasks()
        step = patient_answer("learner", "steps", self.learner.steps.remote, self.wait_s)
        examiners = Examiners(name, tasks, self.workers, self.learner.sealed.remote, self.wait_s)
        tracker = Tracker(name, len(tasks), self.progress)
        while not examiners.finished and not self.interrupt.requested:
            for lost in examiners.tend(WATCH_S):
                if not self._mourn(lost):
                    raise ProcessLost(lost, self._deaths[lost], self.config.run_folder)
            tracker.count(*examiners.count())
        if self.interrupt.requested:
            examiners.stop(self.wait_s)
        else:
            self._keep(examiners, step)

    def train(self) -> None:
        """Until a limit is reached or somebody asks us to stop; then there is a checkpoint."""
        self.limits.start()
        jobs = {name: self._job(name) for name in ("learner", *self.workers)}
        side = SideEvaluations(self.config.evaluation.every_minutes, self._start_side_evaluation, self._keep)
        patience_s = HURRY_S  # an error is not kept waiting behind workers that may wait for what caused it
        try:
            while not self._ends():
                self._tend(jobs)
                side.tend(self.limits.trained_s)
            patience_s = self.wait_s
        finally:
            self.limits.stop()
            self._stop_workers(jobs, patience_s)
            side.close()
        self._ask_host("mark", self.limits.trained_s)
        self._settle_learner(jobs["learner"])
        patient_answer("learner", "checkpoint", self.learner.checkpoint.remote, self.wait_s)

    def close(self) -> None:
        try:
            answer("host", "close", self.host.call.remote("close"), HURRY_S)
        except Unreachable:
            pass  # it is being ended anyway, and what it acknowledged is on disk
        finally:
            for process in (*self.workers.values(), self.learner, self.host):
                ray.kill(process)
            self._cluster.close()

    # -- processes

    def _start_processes(self) -> None:
        runtime, names = self.config.runtime, topology(self.config)
        restarts = runtime.max_restarts
        host = ray.remote(HostActor).options(name=names.host, num_cpus=runtime.host_cpus, max_restarts=restarts)
        self.host = host.remote(self.parts)
        learner = ray.remote(LearnerActor).options(
            name=names.learner, num_cpus=0, num_gpus=runtime.learner_gpus, max_restarts=restarts
        )
        self.learner = learner.remote(self.parts)
        self.workers = {name: self._start_worker(name, number, restarts) for number, name in enumerate(names.workers)}

    def _wait_until_ready(self) -> dict[str, int]:
        """Process ids by name. Raises what a process raised while it started."""
        processes = {"host": self.host, "learner": self.learner, **self.workers}
        asked = {name: process.ready.remote() for name, process in processes.items()}
        return {name: answer(name, "start", reference, self.wait_s) for name, reference in asked.items()}

    def _start_worker(self, name: str, number: int, restarts: int) -> Any:
        runtime = self.config.runtime
        worker = ray.remote(WorkerActor).options(
            name=name, num_cpus=runtime.worker_cpus, num_gpus=runtime.worker_gpus, max_restarts=restarts
        )
        return worker.remote(self.parts, name, number)

    def _start_side_evaluation(self, number: int) -> SideEvaluation:
        """Another worker, with the learner's weights of this moment, beside those that go on playing."""
        name = f"evaluation-{number}"
        worker = self._start_worker(name, FIRST_SIDE_NUMBER + number, 0)
        minutes = (self.config.evaluation.every_minutes or 0.0) * number
        tasks = self.parts.evaluation_tasks()
        examiners = Examiners(f"minute-{minutes:g}", tasks, {name: worker}, self.learner.sealed.remote, self.wait_s)
        return SideEvaluation(examiners, worker, int(self._stats.get("learner_steps", 0)))

    def _keep(self, examiners: Examiners, step: int) -> None:
        self._ask_host("keep_evaluation", examiners.name, step, examiners.results())

    def _job(self, name: str) -> Any:
        process = self.learner if name == "learner" else self.workers[name]
        if name in self._died_at:
            return process.ready.remote()
        if name == "learner":
            return self.learner.work.remote(SLICE_S, self.config.run.learner_steps)
        return process.play.remote()

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
            return self._starts_again(name) or self._mourn(name)
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

    def _mourn(self, name: str) -> bool:
        """A process died. True if Ray starts it again; raises `ProcessLost` when the run cannot go on without it."""
        self._died_at[name] = time.monotonic()
        self._deaths[name] = self._deaths.get(name, 0) + 1
        if name in self.workers:
            self._ask_host("lose_worker", name)
        if self._deaths[name] <= self.config.runtime.max_restarts:
            self.progress.message(f"The {name} died and is started again.")
            return True
        self.workers.pop(name, None)
        if name == "learner" or not self.workers:
            raise ProcessLost(name, self._deaths[name], self.config.run_folder)
        self.progress.message(f"The {name} died too often; the other workers go on without it.")
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
        for worker in self.workers.values():
            worker.stop.remote()
        playing = [job for name, job in jobs.items() if name in self.workers]
        if playing:
            ray.wait(playing, num_returns=len(playing), timeout=wait_s)

    # -- the host

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
