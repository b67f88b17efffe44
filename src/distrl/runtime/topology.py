"""The graph, once: what a run is made of, how many of each, and which concrete classes play the parts.

    host ─────── 1   owns run store, replay, curriculum, leases, the newest weights
    learner ──── 1   owns the trained policy;    host → sample → learner → priorities, metrics, weights → host
    worker ───── workers.count                   host → tasks, weights → worker → trajectories → host
      device ─── devices.per_worker              each with its own loop: reset, screen, act, perform, judge
      policy ─── 1 per worker, batched over its devices by a server
      spool ──── 1 per worker, on its disk
    server ───── runtime.policy_servers          with workers.inference=remote: the policy, for all workers
    joined ───── as many as join                 a worker on a machine that ran `distrl worker`

`serial` calls these objects in one thread on a virtual clock; `ray` gives host, learner and each worker a process.
Whoever wants another part (a test its toy phone) subclasses `Builder`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from distrl.config import Config
from distrl.config.playing import is_task_file
from distrl.devices.base import Device
from distrl.host.host import Host
from distrl.judges.base import Judge
from distrl.learner import checkpoint, initial_priority
from distrl.learner.learner import Learner
from distrl.policies.base import Policy, TrainablePolicy
from distrl.policies.server import PolicyServer
from distrl.replay.buffer import ReplayBuffer
from distrl.store.run import RunStore
from distrl.tasks.base import Suite, load_suite
from distrl.types import Task
from distrl.worker.base import HostClient, Outbox, PolicyClient
from distrl.worker.spool import Spool
from distrl.worker.worker import Worker

if TYPE_CHECKING:
    from distrl.judges.vlm.judge import VlmJudge

Clock = Callable[[], float]

LEARNER_SEED, WORKER_SEED, REPLAY_SEED, EVALUATION_SEED, SERVER_SEED, JUDGE_SEED = 1, 2, 3, 4, 5, 6
"""Streams of chance that must not be the same one."""


class RunPolicy(TrainablePolicy, Protocol):
    """A policy whose sampling temperature evaluation may change."""

    temperature: float


@dataclass(frozen=True)
class Topology:
    """Names of the processes of a run."""

    host: str
    learner: str
    workers: tuple[str, ...]
    servers: tuple[str, ...]
    """Who holds the policy for all workers; none where each worker has its own."""


def topology(config: Config) -> Topology:
    servers = config.runtime.policy_servers if config.workers.inference == "remote" else 0
    return Topology(
        "host",
        "learner",
        tuple(f"worker-{number}" for number in range(config.workers.count)),
        tuple(f"policy-server-{number}" for number in range(servers)),
    )


class Builder:
    """Builds the concrete classes that a config names. Heavy imports happen where they are needed."""

    def __init__(self, config: Config, spool_folder: Path | None = None) -> None:
        """`spool_folder` is on the machine that plays; a worker beside the host keeps its spool in the run folder."""
        self.config = config
        self.spool_folder = spool_folder or self.folder / "spool"

    # -- what may be replaced

    def suite(self) -> Suite:
        return load_suite(self.config.tasks.suite, self.config.tasks.only)

    def judge(self) -> Judge:
        """A new one for each worker: it may hold connections, which the worker closes."""
        from distrl.judges.chain import ChainJudge
        from distrl.judges.rules import RuleJudge
        from distrl.judges.screens import ScreenJudge

        rules = ScreenJudge() if is_task_file(self.config.tasks.suite) else RuleJudge()
        if self.config.judge.kind == "rules":
            return rules
        model = self.vlm_judge()
        return ChainJudge([rules, model]) if self.config.judge.kind == "chain" else model

    def vlm_judge(self) -> VlmJudge:
        """The judge that asks the model, with the key of this process's environment. Raises `ConfigError`."""
        from distrl.judges.vlm.judge import VlmJudge

        return VlmJudge.open(self.config.judge, self.seed(JUDGE_SEED))

    async def device(self, worker: str, slot: int) -> Device:
        from distrl.devices.open import open_device

        return open_device(self.config.devices.address, seed=self.config.run.seed, name=f"{worker}/{slot}")

    def policy(self, seed: int, device: str) -> RunPolicy:
        import torch

        from distrl.policies.vlm import VlmPolicy

        torch.set_num_threads(1)  # processes share the cores; threads inside each would only get in each other's way
        return VlmPolicy.load_model(self.config.policy, seed=seed, device=device)

    # -- what is put together from them

    @property
    def folder(self) -> Path:
        return self.config.run_folder.absolute()

    @property
    def checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    def seed(self, *stream: int) -> int:
        return int(np.random.SeedSequence([self.config.run.seed, *stream]).generate_state(1)[0])

    def host(self, now: Clock) -> Host:
        """The host of a run folder that exists, with replay as it was."""
        store = RunStore.open(self.folder)
        chance = np.random.default_rng(self.seed(REPLAY_SEED))
        replay = ReplayBuffer(self.config.replay, chance, initial_priority.build(self.config))
        host = Host(self.config, store, replay, self.suite(), now=now, free_mb=self._free_mb)
        newest = checkpoint.latest(self.checkpoints)
        host.restore(checkpoint.replay_state(newest) if newest else None)
        return host

    def learner(self) -> Learner:
        """A learner at the run's newest checkpoint, or at the start."""
        policy = self.policy(self.seed(LEARNER_SEED), self.config.learner.device)
        learner = Learner(policy, self.config, np.random.default_rng(self.seed(LEARNER_SEED)), self._roll_back)
        if (newest := checkpoint.latest(self.checkpoints)) is not None:
            checkpoint.load(newest, learner)
        return learner

    def worker_policy(self, number: int) -> RunPolicy:
        return self.policy(self.seed(WORKER_SEED, number), self.config.policy.device)

    def server_policy(self, number: int) -> RunPolicy:
        return self.policy(self.seed(SERVER_SEED, number), self.config.policy.device)

    def evaluation_policy(self) -> RunPolicy:
        policy = self.policy(self.seed(EVALUATION_SEED), self.config.policy.device)
        policy.temperature = self.config.evaluation.temperature
        return policy

    def server(self, policy: Policy, executor: Executor | None = None) -> PolicyServer:
        settings = self.config.policy
        return PolicyServer(
            policy, batch_size=settings.batch_size, wait_s=settings.batch_wait_ms / 1000, executor=executor
        )

    def worker(
        self, name: str, policy_client: PolicyClient, client: HostClient, now: Clock, spool: Outbox | None = None
    ) -> Worker:
        async def open_device(slot: int) -> Device:
            return await self.device(name, slot)

        return Worker(
            name,
            self.config,
            client=client,
            policy_client=policy_client,
            judge=self.judge(),
            open_device=open_device,
            spool=spool or Spool(self.spool_folder / name),
            now=now,
        )

    def evaluation_tasks(self) -> list[Task]:
        """The same held-out tasks for every evaluation of every run with this suite, split and count."""
        return self.suite().tasks(self.config.evaluation.split, self.config.evaluation.episodes, EVALUATION_SEED)

    def _roll_back(self, learner: Learner) -> None:
        newest = checkpoint.latest(self.checkpoints)
        if newest is not None:
            checkpoint.load(newest, learner)

    def _free_mb(self) -> float:
        return shutil.disk_usage(self.folder).free / 2**20
