"""A policy server: a process that holds the policy for many light workers.

Invariant: every decision carries the version that made it, as with a policy of the worker's own.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

from distrl.policies.server import PolicyServer
from distrl.runtime.ray.clients import WorkersClient
from distrl.runtime.ray.host_actor import the_host
from distrl.runtime.ray.processes import Process, one_thread, this_process
from distrl.runtime.topology import Builder, RunPolicy
from distrl.types import Decision, Features, Prompt, VersionedWeights
from distrl.worker.feature_upload import FeatureUpload
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.weights import WeightFollower, check


class OtherWeights(Exception):
    """The server does not hold the weights that an evaluation is about."""


class ServerActor(Process):
    """A policy behind a queue. Follows the host's weights by itself."""

    def _build(self, builder: Builder, *details: Any) -> None:
        name, number = details
        one_thread()
        host = TolerantHostClient(name, WorkersClient(the_host(builder), name, this_process()))
        policy = builder.server_policy(number)
        self._policy = ServedPolicy(builder, policy, ThreadPoolExecutor(max_workers=1, initializer=one_thread))
        self._weights = WeightFollower(self._policy, host)
        shares = builder.config.workers.share_features
        self._features = FeatureUpload(policy.known_features, host) if shares else None
        self._starting = asyncio.Lock()
        self._is_new = True
        self._following: asyncio.Task[None] | None = None

    async def act(self, prompt: Prompt, temperature: float, checksum: str = "") -> Decision:
        """A decision at this temperature; with a checksum, under these very weights or `OtherWeights`."""
        self.ready()
        if checksum:
            if checksum != self._policy.checksum:
                raise OtherWeights
            return await self._policy.at(temperature).act(prompt)
        await self._catch_up()
        decision = await self._policy.at(temperature).act(prompt)
        if self._features:  # on their way before the decision is, so that they are there before the trajectory
            await self._features.send([prompt.screen.digest])
        return decision

    async def load(self, weights: VersionedWeights) -> None:
        """Take these weights for an evaluation. Raises `CorruptData`, and keeps the old ones."""
        if weights.checksum != self._policy.checksum:
            await check(weights)
            await self._policy.load(weights)

    async def weights_published(self, version: int) -> None:
        """The host has newer weights."""
        self._weights.notify()

    async def follow(self) -> None:
        """Keep the policy at the newest version until told to stop."""
        self.ready()
        self._following = asyncio.create_task(self._weights.run())
        with contextlib.suppress(asyncio.CancelledError):  # by `stop`
            await self._following

    async def stop(self) -> None:
        if self._following is not None:
            self._following.cancel()

    async def figures(self) -> tuple[int, int]:
        """Batches computed, and decisions in them."""
        return self._policy.figures()

    async def _catch_up(self) -> None:
        """One that was just started again must not act on the weights of the beginning."""
        async with self._starting:
            if self._is_new:
                await self._weights.refresh()
                self._is_new = False


class ServedPolicy:
    """One policy, asked at several temperatures, that knows which weights it holds. A `FollowingPolicy`."""

    def __init__(self, builder: Builder, policy: RunPolicy, executor: Executor) -> None:
        """`executor` is the one thread that owns the policy."""
        self.checksum = ""
        """Of the weights that were loaded last."""
        self._builder = builder
        self._policy = policy
        self._executor = executor
        self._loader = builder.server(policy, executor)
        self._servers: dict[float, PolicyServer] = {}

    @property
    def version(self) -> int:
        return self._policy.version

    async def load(self, weights: VersionedWeights) -> None:
        await self._loader.load(weights)
        self.checksum = weights.checksum

    def at(self, temperature: float) -> PolicyServer:
        if temperature not in self._servers:
            self._servers[temperature] = self._builder.server(AtTemperature(self._policy, temperature), self._executor)
        return self._servers[temperature]

    def figures(self) -> tuple[int, int]:
        servers = self._servers.values()
        return sum(server.batches for server in servers), sum(server.decisions for server in servers)


class AtTemperature:
    """A policy at one temperature. Runs in the one thread that owns the policy, so that two of them can share it."""

    def __init__(self, policy: RunPolicy, temperature: float) -> None:
        self._policy = policy
        self._temperature = temperature

    @property
    def version(self) -> int:
        return self._policy.version

    def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
        self._policy.temperature = self._temperature
        return self._policy.act(prompts)

    def load(self, weights: VersionedWeights) -> None:
        self._policy.load(weights)

    def known_features(self, digests: Sequence[str]) -> Features:
        return self._policy.known_features(digests)
