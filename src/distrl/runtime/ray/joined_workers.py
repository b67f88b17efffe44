"""Workers on machines that join while the training goes on, and leave or die as they like.

The driver owns them as it owns its own workers. Whatever happens to one of them, the others go on: its tasks are given
back, its error is told to its machine and not raised here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ray

from distrl.errors import ConfigError, StorageFull, Unreachable
from distrl.runtime.join_requests import Candidate, JoinRequest, JoinStatus, joined_config
from distrl.runtime.ray.actors import WorkerActor
from distrl.runtime.ray.handle import Handle, RemoteCall
from distrl.runtime.ray.host_actor import HostActor
from distrl.runtime.ray.placement import only_on, start_process
from distrl.runtime.ray.process_supervisor import Duties, ProcessSupervisor, Supervised, stop_jobs
from distrl.runtime.topology import Builder

FIRST_NUMBER = 20_000
"""Worker numbers seed their policies; those of joined workers start here."""
BLOCKED_RETRY_S = 0.1
"""Between two attempts of a worker that waits for the host or for room on a disk."""


@dataclass(eq=False, kw_only=True)
class JoinedWorker(Supervised):
    candidate: Candidate
    devices: int
    leaving: bool = False
    status: JoinStatus = field(default_factory=lambda: JoinStatus("waiting", "the worker starts"))


class JoinedWorkers(Duties):
    """Owned by the driver, for the length of a training."""

    def __init__(
        self,
        builder: Builder,
        identity: str,
        taken: Callable[[], list[str]],
        host: Handle[HostActor],
        say: Callable[[str], None],
    ) -> None:
        """`identity` names the run on other machines' disks; `taken` are the names of our own workers."""
        runtime = builder.config.runtime
        self._builder = builder
        self._identity = identity
        self._taken = taken
        self._host = host
        self._say = say
        self._workers: dict[str, JoinedWorker] = {}
        """By name: no two of them have the same."""
        self._answers: dict[str, JoinStatus] = {}
        self._number = FIRST_NUMBER
        self._supervisor = ProcessSupervisor(self, max_restarts=runtime.max_restarts, wait_s=runtime.wait_s)

    def tend(self, exchange: Callable[[dict[str, JoinStatus]], list[JoinRequest]]) -> None:
        """One round: `exchange` takes our answers to the host and brings the join requests that stand."""
        statuses = {worker.candidate.key: worker.status for worker in self._workers.values()}
        for request in exchange({**self._answers, **statuses}):
            self._hear(request)
        self._supervisor.tend(0.0)
        for worker in list(self._workers.values()):
            if worker.deaths and not worker.up and not self._may_return(worker):
                self._gone(worker)

    def stop(self, wait_s: float) -> None:
        """They give back what they play and deliver what is finished; their machines go on polling."""
        stop_jobs(list(self._workers.values()), WorkerActor.stop, wait_s)
        for worker in list(self._workers.values()):
            self._let_go(worker, JoinStatus("waiting", "the training stops"))

    # -- who comes and goes

    def _hear(self, request: JoinRequest) -> None:
        key = request.candidate.key
        worker = next((each for each in self._workers.values() if each.candidate.key == key), None)
        if worker is not None:
            if request.leaving and not worker.leaving:
                worker.leaving = True
                worker.handle.start(WorkerActor.stop)
        elif request.leaving:
            self._answers[key] = JoinStatus("left")
        elif self._answers.get(key, JoinStatus("waiting")).status == "waiting":
            self._start(request.candidate)

    def _start(self, candidate: Candidate) -> None:
        if candidate.name in [*self._taken(), *self._workers]:
            detail = f"a worker named {candidate.name} plays already; give this one another --name, or wait for its end"
            self._answers[candidate.key] = JoinStatus("waiting", detail)
            return
        try:
            config = joined_config(self._builder.config, candidate.overrides)
        except ConfigError as error:
            self._answers[candidate.key] = JoinStatus("refused", str(error))
            return
        builder = type(self._builder)(config, Path(candidate.spool) / self._identity)
        self._number += 1
        # Hard: on any other machine it would have neither its devices nor its spool.
        options = {"scheduling_strategy": only_on(candidate.node), "max_restarts": config.runtime.max_restarts}
        handle = start_process(WorkerActor, candidate.name, builder, candidate.name, self._number, True, **options)
        self._answers.pop(candidate.key, None)
        worker = JoinedWorker(candidate.name, handle, candidate=candidate, devices=config.devices.per_worker)
        self._workers[worker.name] = worker
        self._supervisor.watch(worker)

    def _let_go(self, worker: JoinedWorker, status: JoinStatus) -> None:
        del self._workers[worker.name]
        self._supervisor.forget(worker)
        self._answers[worker.candidate.key] = status
        worker.handle.kill()

    def _gone(self, worker: JoinedWorker) -> None:
        self._let_go(worker, JoinStatus("left", "its process died"))
        self._say(f"{worker.name} is gone; the others go on without it.")

    def _may_return(self, worker: JoinedWorker) -> bool:
        """Whether Ray can start it again: its machine is there."""
        alive = any(node["NodeID"] == worker.candidate.node and node["Alive"] for node in ray.nodes())
        return alive and not worker.leaving

    # -- what they are there for

    def job(self, process: Supervised) -> RemoteCall[Any] | None:
        worker = self._workers[process.name]
        if worker.leaving:
            self._let_go(worker, JoinStatus("left"))
            self._say(f"{worker.name} has left; the others go on.")
            return None
        if worker.status.status != "playing":
            worker.status = JoinStatus("playing", f"{worker.devices} devices")
            self._say(f"{worker.name} plays with {worker.devices} devices.")
        return process.handle.start(WorkerActor.play)

    def raised(self, process: Supervised, error: Exception) -> bool:
        worker = self._workers[process.name]
        if isinstance(error, StorageFull | Unreachable) and not worker.leaving:
            time.sleep(BLOCKED_RETRY_S)  # the one thing that helps here is time
            return True
        self._let_go(worker, JoinStatus("refused", f"the worker cannot play: {error}"))
        self._host.ask_patiently(HostActor.lose_worker, worker.name)
        self._say(f"{worker.name} cannot play and is let go: {error}")
        return False

    def died(self, process: Supervised, *, restarts: bool) -> bool:
        worker = self._workers[process.name]
        self._host.ask_patiently(HostActor.lose_worker, worker.name)
        if not restarts:
            self._let_go(worker, JoinStatus("refused", f"its process died {process.deaths} times"))
            self._say(f"{worker.name} died too often; the others go on without it.")
        elif not self._may_return(worker):
            self._gone(worker)
        else:
            worker.status = JoinStatus("waiting", "the worker starts again")
            self._say(f"{worker.name} died and is started again.")
        return worker.name in self._workers
