"""The learner, policy servers and workers of a run: what they do while it trains, and what follows when one dies."""

from __future__ import annotations

import time
from typing import Any

from distrl.config import Config
from distrl.errors import ProcessLost, StorageFull, Unreachable
from distrl.runtime.progress import Progress
from distrl.runtime.ray.actors import LearnerActor, WorkerActor
from distrl.runtime.ray.handle import Handle, RemoteCall
from distrl.runtime.ray.host_actor import HostActor
from distrl.runtime.ray.placement import Placement
from distrl.runtime.ray.policy_server import ServerActor
from distrl.runtime.ray.process_supervisor import Duties, ProcessSupervisor, Supervised, stop_jobs
from distrl.runtime.ray.processes import Process
from distrl.runtime.topology import topology

SLICE_S = 2.0
"""The learner works this long before the driver may ask it for something else."""
BLOCKED_RETRY_S = 1.0
"""Between two attempts of a process that waits for the host or for room on a disk."""


class OwnProcesses(Duties):
    """Started with the run, and ended with it. The run goes on without a worker or a policy server that died too often,
    as long as another one is left."""

    def __init__(self, config: Config, placement: Placement, host: Handle[HostActor], progress: Progress) -> None:
        names = topology(config)
        self._config = config
        self._host = host
        self._progress = progress
        self._said = ""
        self._training = False
        self.learner_handle: Handle[LearnerActor] = placement.learner()
        self.learner = Supervised(names.learner, self.learner_handle)
        self.servers = {
            name: Supervised(name, placement.server(name, number)) for number, name in enumerate(names.servers)
        }
        self.workers = {
            name: Supervised(name, placement.worker(name, number)) for number, name in enumerate(names.workers)
        }

    @property
    def all(self) -> list[Supervised]:
        return [self.learner, *self.servers.values(), *self.workers.values()]

    def wait_until_ready(self) -> None:
        """Raises what a process raised while it started."""
        asked = [each.handle.start(Process.ready) for each in self.all]
        for each, call in zip(self.all, asked, strict=True):
            call.result(self._config.runtime.wait_s)
            each.up = True

    def train(self) -> ProcessSupervisor:
        """Have all of them begin, or go on."""
        self._training = True
        supervisor = self._supervisor()
        for process in self.all:
            supervisor.watch(process)
        return supervisor

    def stop(self, wait_s: float) -> None:
        """Workers give back what they play and deliver what is finished. One that does not answer is left behind."""
        self._training = False
        stop_jobs(list(self.workers.values()), WorkerActor.stop, wait_s)  # first: one may still ask a server
        stop_jobs(list(self.servers.values()), ServerActor.stop, wait_s)

    def settle_learner(self) -> None:
        """Wait for the end of its step. One that died in it is waited for, and goes on from its last checkpoint."""
        supervisor = self._supervisor()
        supervisor.watch(self.learner)
        while (job := self.learner.job) is not None:
            supervisor.tend(self._config.runtime.wait_s)
            if self.learner.job is job:
                raise Unreachable("learner", "the end of its step", self._config.runtime.wait_s)

    def kill(self) -> None:
        for process in self.all:
            process.handle.kill()

    # -- what they are there for

    def job(self, process: Supervised) -> RemoteCall[Any] | None:
        if not self._training:
            return None
        if process is self.learner:
            return process.handle.start(LearnerActor.work, SLICE_S, self._config.run.learner_steps)
        if process.name in self.servers:
            return process.handle.start(ServerActor.follow)
        return process.handle.start(WorkerActor.play)

    def raised(self, process: Supervised, error: Exception) -> bool:
        if not isinstance(error, StorageFull | Unreachable):
            raise error
        text = f"{process.name}: {error}"
        if text != self._said:
            self._progress.message(text)
        self._said = text
        time.sleep(BLOCKED_RETRY_S)  # the one thing that helps here is time
        return True

    def died(self, process: Supervised, *, restarts: bool) -> bool:
        """Raises `ProcessLost` when the run cannot go on without it."""
        if process.name in self.workers:
            self._host.ask_patiently(HostActor.lose_worker, process.name)
        if restarts:
            self._progress.message(f"The {process.name} died and is started again.")
            return True
        alike = self.servers if process.name in self.servers else self.workers
        alike.pop(process.name, None)
        if process is self.learner or not alike:
            self.lost(process)
        self._progress.message(f"The {process.name} died too often; the others go on without it.")
        return False

    def died_in_evaluation(self, process: Supervised, restarts: bool) -> None:
        """The tasks of an evaluation are dealt out already: none of its workers may be missing for good."""
        if not self.died(process, restarts=restarts):
            self.lost(process)

    def lost(self, process: Supervised) -> None:
        raise ProcessLost(process.name, process.deaths, self._config.run_folder)

    def _supervisor(self) -> ProcessSupervisor:
        runtime = self._config.runtime
        return ProcessSupervisor(self, max_restarts=runtime.max_restarts, wait_s=runtime.wait_s)
