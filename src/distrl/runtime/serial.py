"""The serial runtime: the whole graph in one thread, in one order, on a virtual clock.

Two runs with one seed are equal byte for byte: ids, trajectories, weights. Episodes take the time their devices say
they take; inference and learner steps take the constants of `runtime.serial_batch_s` and `runtime.serial_step_s`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from distrl.errors import ConfigError
from distrl.policies.base import Policy
from distrl.runtime.clock import VirtualLoop
from distrl.runtime.evaluation import EvaluationProgress, MemorySpool, TaskList
from distrl.runtime.interrupt import Interrupt
from distrl.runtime.learner_loop import LearnerLoop
from distrl.runtime.limits import TrainingLimits
from distrl.runtime.local_client import LocalClient
from distrl.runtime.progress import Progress
from distrl.runtime.topology import Builder, topology
from distrl.types import Decision, Features, Prompt, Task, Trajectory, VersionedWeights
from distrl.worker.worker import Worker

IDLE_S = 0.25
"""How long the learner waits when there is nothing to learn from yet."""
MARK_S = 10.0


class SerialRun:
    """One run, from the store it finds to the store it leaves."""

    def __init__(self, builder: Builder, progress: Progress, interrupt: Interrupt) -> None:
        if builder.config.judge.kind != "rules":
            raise ConfigError(
                "The serial runtime asks nobody outside: its clock does not wait for them, and no run would equal the "
                f"next. Set judge.kind=rules, or leave --serial away for judge.kind={builder.config.judge.kind}."
            )
        self.builder = builder
        self.config = builder.config
        self.progress = progress
        self.interrupt = interrupt
        self.loop = VirtualLoop()
        self._runner = asyncio.Runner(loop_factory=lambda: self.loop)
        self.host = builder.host(self.loop.time)
        if events := self.host.store.events():
            self.loop.charge(max(event.at for event in events))  # a resumed run goes on where its clock stood
        self.learning = LearnerLoop(builder.learner(), self.host, builder.checkpoints, self.loop.time)
        self.limits = TrainingLimits(self.config.run, self.loop.time, self.host.trained_s)
        self._servers = [
            builder.server(ClockedPolicy(builder.worker_policy(number), self.loop, self.config.runtime.serial_batch_s))
            for number in range(self.config.workers.count)
        ]

    def evaluated(self) -> list[str]:
        return self.host.evaluated()

    def evaluate(self, name: str) -> None:
        self._runner.run(self._evaluate(name))

    def train(self) -> None:
        """Until a limit is reached or somebody asks us to stop; then there is a checkpoint."""
        self.learning.begin()
        self.limits.start()
        self._runner.run(self._train())
        self.limits.stop()
        self.host.mark(self.limits.trained_s)
        self.learning.checkpoint()

    def close(self) -> None:
        self._runner.close()
        self.host.close()

    # -- inside

    async def _train(self) -> None:
        workers = [self._worker(number, name) for number, name in enumerate(topology(self.config).workers)]
        playing = [asyncio.ensure_future(worker.run()) for worker in workers]
        evaluations: list[asyncio.Future[None]] = []
        try:
            while not self._ends():
                _raise_errors([*playing, *evaluations])
                moved = self.learning.turn()
                self._report("train")
                evaluations += self._due_evaluation(len(evaluations))
                await asyncio.sleep(self.config.runtime.serial_step_s if moved else IDLE_S)
            await asyncio.gather(*evaluations)
        finally:
            for worker in workers:
                worker.stop()
            await asyncio.gather(*playing)

    def _ends(self) -> bool:
        return self.interrupt.requested or self.limits.reached(self.host.stats())

    def _worker(self, number: int, name: str) -> Worker:
        return self.builder.worker(name, self._servers[number], LocalClient(self.host, name), self.loop.time)

    def _due_evaluation(self, done: int) -> list[asyncio.Future[None]]:
        every = self.config.evaluation.every_minutes
        if every is None or self.limits.trained_s < 60.0 * every * (done + 1):
            return []
        return [asyncio.ensure_future(self._evaluate(f"step-{self.learning.learner.steps}"))]

    async def _evaluate(self, name: str) -> None:
        tasks = self.builder.evaluation_tasks()
        step = self.learning.learner.steps
        trajectories = await self._play_evaluation(name, tasks, self.learning.learner.sealed())
        self.host.keep_evaluation(name, step, trajectories)

    async def _play_evaluation(self, name: str, tasks: Sequence[Task], weights: VersionedWeights) -> list[Trajectory]:
        policy = self.builder.evaluation_policy()
        policy.load(weights)
        server = self.builder.server(ClockedPolicy(policy, self.loop, self.config.runtime.serial_batch_s))
        task_list = TaskList(name, tasks, EvaluationProgress(name, len(tasks), self.progress))
        await self.builder.worker("evaluation", server, task_list, self.loop.time, MemorySpool()).run()
        return task_list.results

    def _report(self, phase: str) -> None:
        times = {"phase": phase, "elapsed_s": self.limits.trained_s, "limit_s": self.limits.limit_s}
        self.progress.update({**times, **self.host.stats()})


class ClockedPolicy:
    """A policy whose batches take virtual time."""

    def __init__(self, policy: Policy, loop: VirtualLoop, batch_s: float) -> None:
        self._policy = policy
        self._loop = loop
        self._batch_s = batch_s

    @property
    def version(self) -> int:
        return self._policy.version

    def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
        self._loop.charge(self._batch_s)
        return self._policy.act(prompts)

    def load(self, weights: VersionedWeights) -> None:
        self._policy.load(weights)

    def known_features(self, digests: Sequence[str]) -> Features:
        return self._policy.known_features(digests)


def _raise_errors(futures: Sequence[asyncio.Future[Any]]) -> None:
    for future in futures:
        if future.done():
            future.result()
