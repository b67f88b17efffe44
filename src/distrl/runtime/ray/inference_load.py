"""Inference as in a run, without the run: workers request decisions at the pace of devices, and time the answers."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from distrl.policies.server import PolicyServer
from distrl.runtime import lifecycle
from distrl.runtime.progress import Silent
from distrl.runtime.ray.cluster import Cluster
from distrl.runtime.ray.host_actor import HostActor
from distrl.runtime.ray.placement import start_process
from distrl.runtime.ray.policy_server import ServerActor
from distrl.runtime.ray.processes import Process, one_thread
from distrl.runtime.ray.remote_policy import remote_policy
from distrl.runtime.topology import Builder, topology
from distrl.types import Prompt
from distrl.worker.base import PolicyClient

NAMESPACE = "inference-load"
FOREVER_S = 86_400.0
FIRST_SEED = 1_000_000
"""Seeds of the screens that warm the policy up."""


@dataclass(frozen=True, slots=True)
class InferenceTimings:
    latencies_s: tuple[float, ...]
    """Of every decision: from the question to the answer."""
    batches: int
    decisions: int
    seconds: float


class LoadWorker(Process):
    """A worker whose devices do nothing but wait between two requests."""

    def _build(self, builder: Builder, *details: Any) -> None:
        (number,) = details
        one_thread()
        self._builder = builder
        self._number: int = number
        self._server: PolicyServer | None = None
        if names := topology(builder.config).servers:
            self._policy_client: PolicyClient = remote_policy(builder, names, builder.config.policy.temperature)
        else:
            executor = ThreadPoolExecutor(max_workers=1, initializer=one_thread)
            self._policy_client = self._server = builder.server(builder.worker_policy(number), executor)
        self._prompts: list[list[Prompt]] = []

    async def prepare(self, steps: int) -> None:
        """Draw screens that are new to the policy: its cache would make others cheaper than in a run."""
        self.ready()
        devices = self._builder.config.devices.per_worker
        self._prompts = [await self._look(steps, self._number * devices + slot) for slot in range(devices)]
        (unseen,) = await self._look(1, FIRST_SEED + self._number)
        await self._policy_client.act(unseen)  # the first question takes longer than all others

    async def ask(self, think_s: float) -> tuple[list[float], int, int]:
        """Latencies, and batches and decisions of a policy of its own."""
        self.ready()
        rngs = [random.Random(f"{self._number}/{slot}") for slot in range(len(self._prompts))]
        asked = [self._ask(prompts, think_s, rng) for prompts, rng in zip(self._prompts, rngs, strict=True)]
        latencies = [latency for each in await asyncio.gather(*asked) for latency in each]
        return latencies, getattr(self._server, "batches", 0), getattr(self._server, "decisions", 0)

    async def _ask(self, prompts: Sequence[Prompt], think_s: float, rng: random.Random) -> list[float]:
        latencies = []
        for prompt in prompts:
            await asyncio.sleep(think_s * rng.uniform(0.5, 1.5))
            start = time.perf_counter()
            await self._policy_client.act(prompt)
            latencies.append(time.perf_counter() - start)
        return latencies

    async def _look(self, steps: int, seed: int) -> list[Prompt]:
        device = await self._builder.device(f"load-{self._number}", seed)
        tasks = self._builder.suite().tasks(self._builder.config.tasks.split, steps, 1 + seed)
        return [Prompt(task.goal, await device.reset(task)) for task in tasks]


def time_inference(builder: Builder, *, steps: int, think_s: float) -> InferenceTimings:
    """`workers.count` × `devices.per_worker` devices ask `steps` times each. Makes the run folder, as a run would."""
    config = builder.config
    lifecycle.open_folder(config, Silent(), resume=False)
    cluster = Cluster(config.runtime, builder.folder, NAMESPACE)
    try:
        names, wait_s = topology(config), config.runtime.wait_s
        host = start_process(HostActor, names.host, builder, name=names.host)  # kept: Ray ends what nobody holds
        host.ask(HostActor.ready)
        servers = [
            start_process(ServerActor, name, builder, name, number, name=name)
            for number, name in enumerate(names.servers)
        ]
        load_names = [f"load-{number}" for number in range(config.workers.count)]
        workers = [
            start_process(LoadWorker, name, builder, number, name=name) for number, name in enumerate(load_names)
        ]
        for ready in [server.start(ServerActor.ready) for server in servers]:
            ready.result(wait_s)
        for prepared in [worker.start(LoadWorker.prepare, steps) for worker in workers]:
            prepared.result(wait_s)
        began = time.perf_counter()
        asked = [worker.start(LoadWorker.ask, think_s) for worker in workers]
        told = [each.result(FOREVER_S) for each in asked]
        seconds = time.perf_counter() - began
        figures = [(batches, decisions) for _, batches, decisions in told]
        figures += [server.start(ServerActor.figures).result(wait_s) for server in servers]
    finally:
        cluster.close()
    latencies = tuple(latency for each, _, _ in told for latency in each)
    return InferenceTimings(latencies, sum(b for b, _ in figures), sum(d for _, d in figures), seconds)
