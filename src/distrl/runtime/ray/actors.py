"""The processes of a run. Each is a thin shell around a plain object that knows nothing of Ray.

Ray starts a process again that died; its constructor then finds everything in the run folder. What it was doing,
the driver asks for again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import ray

from distrl import background
from distrl.host.weights import verify
from distrl.runtime.evaluation import MemorySpool, TaskList
from distrl.runtime.join_requests import Gate, Standing, Visit
from distrl.runtime.learner_loop import LearnerLoop
from distrl.runtime.ray.clients import LearnersClient, Shelved, WorkersClient
from distrl.runtime.ray.inference import remote_policy
from distrl.runtime.ray.processes import Process, one_thread, the_host
from distrl.runtime.topology import Builder, RunPolicy, topology
from distrl.store.provenance import code_digest
from distrl.types import Task, Trajectory, Tree, VersionedWeights
from distrl.worker.base import PolicyClient
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.worker import Worker

IDLE_S = 0.1
"""How long the learner waits when there is nothing to learn from yet."""


class HostActor(Process):
    """The host. One call at a time, which is all the locking there is."""

    def _build(self, builder: Builder, *details: Any) -> None:
        self._host = builder.host(time.time)
        self._newest: Any = None
        self._shelving = background.threads(1)
        self._shelved: tuple[int, Future[tuple[Any, VersionedWeights]] | None] = (0, None)
        self._gate = Gate(code_digest(), time.time)

    def call(self, method: str, *arguments: Any) -> Any:
        self.ready()
        found = getattr(self._host, method)
        return found(*arguments) if callable(found) else found

    def knock(self, candidate: Tree, leaving: bool) -> Tree:
        self.ready()
        return self._gate.knock(candidate, leaving)

    def visits(self, standings: Mapping[str, Standing]) -> list[Visit]:
        return self._gate.round(standings)

    def dismiss(self, why: str) -> int:
        return self._gate.dismiss(why)

    def shelve(self, weights: VersionedWeights) -> None:
        """Begin to make a version ready, in a thread beside the calls: large weights take a second to copy and check,
        and no worker should wait so long for a task."""
        self._shelved = (weights.version, self._shelving.submit(into_shared_memory, weights))

    def publish(self, version: int) -> Shelved:
        """Hand out references to a version that was shelved. Raises `CorruptData` for torn weights, and what the host
        raises."""
        expected, shelved = self._shelved
        if shelved is None or expected != version:
            return "unknown"
        if not shelved.done():
            return "busy"
        reference, weights = shelved.result()
        self._host.publish(weights, verified=True)
        self._newest, self._shelved = reference, (0, None)
        return "done"

    def latest(self, newer_than: int, worker: str) -> list[Any] | None:
        return [self._newest] if self._host.latest(newer_than, worker) is not None else None


def into_shared_memory(weights: VersionedWeights) -> tuple[Any, VersionedWeights]:
    """One copy, owned by this process, read there and found intact: the reference to it, and a view."""
    reference = ray.put(weights)
    return reference, verify(ray.get(reference))


class LearnerActor(Process):
    """The learner, in slices of time: between two of them it can be asked for something else."""

    def _build(self, builder: Builder, *details: Any) -> None:
        one_thread()
        client = LearnersClient(the_host(builder), builder.config.runtime.wait_s)
        self._learning = LearnerLoop(builder.learner(), client, builder.checkpoints, time.time)
        self._begun = False

    def work(self, seconds: float, last_step: int | None) -> None:
        """Learn for about this long, and not beyond that step."""
        self.ready()
        if not self._begun:
            self._learning.begin()
            self._begun = True
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            done = last_step is not None and self.steps() >= last_step
            if done or not self._learning.turn():
                time.sleep(IDLE_S)

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
        self._client = WorkersClient(the_host(builder), name, builder.config.runtime.wait_s)
        self._servers: Sequence[str] = topology(builder.config).servers if remote else ()
        self._policy: RunPolicy | None = None if self._servers else builder.worker_policy(number)
        self._executor = ThreadPoolExecutor(max_workers=1, initializer=one_thread)
        self._policy_client = self._policy_client_at(builder.config.policy.temperature)
        self._worker: Worker | None = None
        self._sheet: TaskList | None = None

    async def play(self) -> None:
        """Play for the host until told to stop."""
        self.ready()
        self._worker = self._builder.worker(self._name, self._policy_client, self._client, time.time)
        await self._worker.run()

    async def stop(self) -> None:
        if self._worker is not None:
            self._worker.stop()

    async def examine(self, name: str, tasks: Sequence[Task], weights: VersionedWeights) -> list[Trajectory]:
        """Play a list of tasks with these weights at the temperature of evaluation. Not while it plays for the host."""
        self.ready()
        self._sheet = TaskList(name, tasks, herald=TolerantHostClient(self._name, self._client))
        policy_client = self._policy_client_at(self._builder.config.evaluation.temperature)
        try:
            await policy_client.load(weights)
            self._worker = self._builder.worker(self._name, policy_client, self._sheet, time.time, MemorySpool())
            await self._worker.run()
        finally:
            self._policy_client = self._policy_client_at(self._builder.config.policy.temperature)
        return self._sheet.results

    async def examined(self) -> tuple[int, int]:
        """Tasks finished so far, and successes among them."""
        self.ready()
        results = self._sheet.results if self._sheet else []
        return len(results), sum(trajectory.outcome.success for trajectory in results)

    def _policy_client_at(self, temperature: float) -> PolicyClient:
        if self._policy is None:
            return remote_policy(self._builder, self._servers, temperature)
        self._policy.temperature = temperature
        return self._builder.server(self._policy, self._executor)
