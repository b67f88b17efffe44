"""The learner's and the workers' processes. Each is a thin shell around a plain object that knows nothing of Ray.

Ray starts a process again that died; its constructor then finds everything in the run folder. What it was doing,
the driver asks for again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ray

from distrl.runtime.evaluation import MemorySpool, TaskList
from distrl.runtime.learner_loop import LearnerLoop
from distrl.runtime.ray.clients import LearnersClient, WorkersClient
from distrl.runtime.ray.host_actor import the_host
from distrl.runtime.ray.processes import Process, one_thread, this_process
from distrl.runtime.ray.remote_policy import remote_policy
from distrl.runtime.topology import Builder, RunPolicy, topology
from distrl.types import Task, Trajectory, VersionedWeights, Weights
from distrl.worker.base import PolicyClient
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.worker import Worker

IDLE_S = 0.1
"""How long the learner waits when there is nothing to learn from yet."""


class LearnerActor(Process):
    """The learner, in slices of time: between two of them it can be asked for something else."""

    CONCURRENCY_GROUPS: Mapping[str, int] = {"weights": 1}
    """A thread beside the learner's own, which waits while its weights are being read."""

    def _build(self, builder: Builder, *details: Any) -> None:
        self._client = LearnersClient(the_host(builder), this_process())
        self._learning = LearnerLoop(builder.learner(), self._client, builder.checkpoints, time.time)
        self._begun = False

    def work(self, seconds: float, last_step: int | None) -> None:
        """Learn for about this long, and not beyond that step."""
        self.ready()
        one_thread()  # here and not in the constructor, which runs in another thread
        if not self._begun:
            self._learning.begin()
            self._begun = True
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            done = last_step is not None and self.steps() >= last_step
            if done or not self._learning.turn():
                time.sleep(IDLE_S)

    @ray.method(concurrency_group="weights")  # type: ignore[untyped-decorator]
    def hand_over(self, version: int) -> Weights:
        """The arrays that are being published. Ray writes what is returned into shared memory, without another copy."""
        return self._client.hand_over(version)

    def checkpoint(self) -> None:
        self._learning.checkpoint()

    def sealed(self) -> VersionedWeights:
        self.ready()
        return self._learning.learner.sealed()

    def steps(self) -> int:
        self.ready()
        return self._learning.learner.steps


class WorkerActor(Process):
    """A worker. Devices live in the event loop, the model computes in one thread beside it, or in policy servers."""

    def _build(self, builder: Builder, *details: Any) -> None:
        name, number, remote = details
        one_thread()
        self._builder = builder
        self._name: str = name
        self._client = WorkersClient(the_host(builder), name, this_process())
        self._servers: Sequence[str] = topology(builder.config).servers if remote else ()
        self._policy: RunPolicy | None = None if self._servers else builder.worker_policy(number)
        self._executor = ThreadPoolExecutor(max_workers=1, initializer=one_thread)
        self._policy_client = self._policy_client_at(builder.config.policy.temperature)
        self._worker: Worker | None = None
        self._tasks: TaskList | None = None

    async def play(self) -> None:
        """Play for the host until told to stop."""
        self.ready()
        self._worker = self._builder.worker(self._name, self._policy_client, self._client, time.time)
        await self._worker.run()

    async def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    async def weights_published(self, version: int) -> None:
        """The host has newer weights."""
        if self._worker is not None:
            self._worker.weights.notify()

    async def evaluate(self, name: str, tasks: Sequence[Task], weights: VersionedWeights) -> list[Trajectory]:
        """Play a list of tasks with these weights at the temperature of evaluation. Not while it plays for the host."""
        self.ready()
        self._tasks = TaskList(name, tasks, events=TolerantHostClient(self._name, self._client))
        policy_client = self._policy_client_at(self._builder.config.evaluation.temperature)
        try:
            await policy_client.load(weights)
            self._worker = self._builder.worker(self._name, policy_client, self._tasks, time.time, MemorySpool())
            await self._worker.run()
        finally:
            self._policy_client = self._policy_client_at(self._builder.config.policy.temperature)
        return self._tasks.results

    async def progress(self) -> tuple[int, int]:
        """Tasks of the evaluation finished so far, and successes among them."""
        self.ready()
        results = self._tasks.results if self._tasks else []
        return len(results), sum(trajectory.outcome.success for trajectory in results)

    def _policy_client_at(self, temperature: float) -> PolicyClient:
        if self._policy is None:
            return remote_policy(self._builder, self._servers, temperature)
        self._policy.temperature = temperature
        return self._builder.server(self._policy, self._executor)
