"""Watches processes that belong together: which of their jobs has ended, and how.

A process whose job is done is given its next one. One that died is waited for while Ray starts it again, and then given
its job again. What a death or an error means is not decided here: that is what `Duties` differ in.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ray
from ray.exceptions import RayError, RayTaskError

from distrl.runtime.ray.handle import Handle, RemoteCall, original
from distrl.runtime.ray.processes import Process

RETRY_S = 0.5
"""Between two questions whether a process that died is up again."""


@dataclass(eq=False)
class Supervised:
    """A process, and what it is doing."""

    name: str
    handle: Handle[Any]
    up: bool = False
    """It has said that it is ready, and has not died since."""
    job: RemoteCall[Any] | None = None
    """None while it has nothing to do."""
    deaths: int = 0
    died_at: float | None = None
    """When it died last; None once it is up again."""


class Duties(Protocol):
    """What a kind of process is there for, and what follows from its end."""

    def job(self, process: Supervised) -> RemoteCall[Any] | None:
        """What it is to do now: asked when it is up, and when its last job has ended. None: nothing."""

    def finished(self, process: Supervised, result: Any) -> None:
        """Its job has ended well. Nothing follows, unless a subclass says so."""
        return

    def raised(self, process: Supervised, error: Exception) -> bool:
        """Its job has ended with this error. Raises it, or says whether the process is given a job again; otherwise it
        is watched no longer."""

    def died(self, process: Supervised, *, restarts: bool) -> bool:
        """It died, and Ray starts it again or does not. Whether its return is waited for; otherwise it is watched no
        longer."""


class ProcessSupervisor:
    """Owned by one thread, for as long as its processes have these duties."""

    def __init__(self, duties: Duties, *, max_restarts: int, wait_s: float) -> None:
        """`wait_s`: how long a process may take to start again; then it counts as dead once more."""
        self.processes: dict[str, Supervised] = {}
        self._duties = duties
        self._max_restarts = max_restarts
        self._wait_s = wait_s

    @property
    def busy(self) -> list[Supervised]:
        """Processes that have a job."""
        return [process for process in self.processes.values() if process.job is not None]

    def watch(self, process: Supervised) -> None:
        """From now on. One without a job is given one."""
        self.processes[process.name] = process
        if process.job is None:
            process.job = self._next_job(process)

    def forget(self, process: Supervised) -> None:
        """It is watched no longer."""
        self.processes.pop(process.name, None)

    def tend(self, timeout_s: float) -> None:
        """Wait until a job has ended, but no longer than this, and see to all that have."""
        busy = {process.job.reference: process for process in self.busy if process.job is not None}
        if not busy:
            return
        ray.wait(list(busy), timeout=timeout_s)
        ended, _ = ray.wait(list(busy), num_returns=len(busy), timeout=0)
        for reference in ended:
            self._see_to(busy[reference], reference)

    def _see_to(self, process: Supervised, reference: Any) -> None:
        try:
            result = ray.get(reference)
        except RayTaskError as error:  # first: it may be both, when the process had asked a dead one
            stays = self._duties.raised(process, original(error))
        except RayError:  # it died, or has no machine any more to be started on
            stays = self._died(process)
        else:
            stays = True
            if process.up:
                self._duties.finished(process, result)
            process.up, process.died_at = True, None
        if stays:
            process.job = self._next_job(process)
        else:
            process.job = None
            self.forget(process)

    def _died(self, process: Supervised) -> bool:
        """Until the new process is up every call fails as the last one did: that is no other death."""
        process.up = False
        stays = True
        if process.died_at is None or time.monotonic() - process.died_at >= self._wait_s:
            process.died_at = time.monotonic()
            process.deaths += 1
            stays = self._duties.died(process, restarts=process.deaths <= self._max_restarts)
        if stays:
            time.sleep(RETRY_S)
        return stays

    def _next_job(self, process: Supervised) -> RemoteCall[Any] | None:
        return self._duties.job(process) if process.up else process.handle.start(Process.ready)


def stop_jobs(processes: Sequence[Supervised], stop: Callable[..., Any], timeout_s: float) -> None:
    """Call `stop` in each, and wait for the end of its job, but no longer than this. They are given no other job."""
    for process in processes:
        process.handle.start(stop)
    jobs = [process.job.reference for process in processes if process.job is not None]
    if jobs:
        ray.wait(jobs, num_returns=len(jobs), timeout=timeout_s)
    for process in processes:
        process.job = None
