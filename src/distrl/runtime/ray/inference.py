"""Remote inference: a few processes hold the policy, many light workers ask them.

Invariants: every decision carries the version that made it, as with a policy of one's own; a server that dies costs
nothing but time while another one, or the same one started again, answers within `runtime.wait_s`; after that the
episode is invalid, never failed.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from distrl.background import in_background
from distrl.backoff import Backoff
from distrl.errors import CorruptData, PolicyUnreachable, Unreachable
from distrl.policies.server import PolicyServer
from distrl.runtime.ray.clients import WorkersClient, original
from distrl.runtime.ray.processes import Process, one_thread, the_host
from distrl.runtime.topology import Builder, RunPolicy
from distrl.types import Decision, Features, Prompt, VersionedWeights
from distrl.worker.feature_upload import REMEMBERED

POLL_S = 1.0
"""Between two looks for newer weights."""
SHARE_S = 0.05
"""Soon: what comes after the trajectories that show the screens is no help to the learner any more."""
AVOIDED_S = 5.0
"""A server that has just failed is asked only if there is no other."""
NEWEST = sys.maxsize


class WrongWeights(Exception):
    """The server does not hold the weights that an examination is about."""


class ServerActor(Process):
    """A policy behind a queue, for whoever asks. Follows the host's weights by itself."""

    def _build(self, builder: Builder, *details: Any) -> None:
        name, number = details
        one_thread()
        self._builder = builder
        self._name: str = name
        self._client = WorkersClient(the_host(builder), name, builder.config.runtime.wait_s)
        self._policy = builder.server_policy(number)
        self._executor = ThreadPoolExecutor(max_workers=1, initializer=one_thread)
        self._loader = builder.server(self._policy, self._executor)
        self._servers: dict[float, PolicyServer] = {}
        self._checksum = ""
        self._caught_up = asyncio.Lock()
        self._is_new = True
        self._refused = -1
        self._stopping = asyncio.Event()
        self._sent: OrderedDict[str, None] = OrderedDict()

    async def act(self, prompt: Prompt, temperature: float, checksum: str = "") -> Decision:
        """A decision at this temperature; with a checksum, under these very weights or `WrongWeights`."""
        self.ready()
        if checksum and checksum != self._checksum:
            raise WrongWeights
        if not checksum:
            await self._catch_up()
        decision = await self._at(temperature).act(prompt)
        if not checksum:
            await self._share(prompt.screen.digest)
        return decision

    async def load(self, weights: VersionedWeights) -> None:
        """Take these weights for an examination."""
        if weights.checksum != self._checksum:
            await self._take(weights)

    async def follow(self) -> None:
        """Keep the policy new until told to stop."""
        self.ready()
        self._stopping.clear()
        clock = asyncio.get_running_loop().time
        refreshed_at = -POLL_S
        while not self._stopping.is_set():
            with contextlib.suppress(Unreachable):  # the old weights still play; the next look is a second away
                if clock() - refreshed_at >= POLL_S:
                    refreshed_at = clock()
                    await self._refresh()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), SHARE_S)

    async def stop(self) -> None:
        self._stopping.set()

    async def figures(self) -> tuple[int, int]:
        """Batches computed, and decisions in them."""
        servers = self._servers.values()
        return sum(server.batches for server in servers), sum(server.decisions for server in servers)

    def _at(self, temperature: float) -> PolicyServer:
        if temperature not in self._servers:
            self._servers[temperature] = self._builder.server(Tempered(self._policy, temperature), self._executor)
        return self._servers[temperature]

    async def _catch_up(self) -> None:
        """One that was just started again must not act on the weights of the beginning."""
        async with self._caught_up:
            if self._is_new:
                with contextlib.suppress(Unreachable):
                    await self._refresh()
                self._is_new = False

    async def _refresh(self) -> None:
        weights = await self._client.latest(self._policy.version)
        if weights is None or weights.version == self._refused:
            return
        try:
            await self._take(weights)
        except CorruptData as error:
            self._refused = weights.version
            await self._client.report(self._name, "weights_refused", str(error))

    async def _take(self, weights: VersionedWeights) -> None:
        """Raises `CorruptData`, and keeps the old ones."""
        if not await in_background(lambda: weights.intact):
            raise CorruptData(f"Weights of version {weights.version} fail their checksum; the old ones stay.")
        await self._loader.load(weights)
        self._checksum = weights.checksum

    async def _share(self, digest: str) -> None:
        """As workers do that have a policy of their own: the learner need not look at this screen again. On its way
        before the decision is, so that it is there before the trajectory; not waited for."""
        if digest in self._sent or not self._builder.config.workers.share_features:
            return
        self._sent[digest] = None
        if len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)
        with contextlib.suppress(Unreachable):  # the learner looks for itself
            if features := self._policy.known_features([digest]):
                await self._client.share(features)


class Tempered:
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


class RemotePolicy:
    """A `PolicyClient` whose policy is in other processes. One per worker, or per examination."""

    def __init__(self, servers: Mapping[str, Any], temperature: float, wait_s: float) -> None:
        self._servers = dict(servers)
        self._temperature = temperature
        self._wait_s = wait_s
        self._in_flight = dict.fromkeys(self._servers, 0)
        self._failed_at = dict.fromkeys(self._servers, -AVOIDED_S)
        self._weights: Any = None
        self._checksum = ""

    @property
    def version(self) -> int:
        """No weights are newer: servers follow the host, a worker need not."""
        return NEWEST

    async def act(self, prompt: Prompt) -> Decision:
        """Raises `PolicyUnreachable` when no server answers in time, and whatever a policy raised."""
        seen = replace(prompt, screen=replace(prompt.screen, elements=()))  # for judges and tests, not for a policy
        deadline = time.monotonic() + self._wait_s
        backoff = Backoff()
        while (left_s := deadline - time.monotonic()) > 0:
            name = self._choice()
            self._in_flight[name] += 1
            try:
                return await asyncio.wait_for(self._ask(name, seen), left_s)
            except (RayActorError, TimeoutError):
                self._failed_at[name] = time.monotonic()
                await backoff.wait()
            finally:
                self._in_flight[name] -= 1
        raise PolicyUnreachable(list(self._servers), self._wait_s)

    async def load(self, weights: VersionedWeights) -> None:
        """From now on only decisions under these very weights count: an examination."""
        self._checksum = weights.checksum
        self._weights = ray.put(weights)

    def known_features(self, digests: Sequence[str]) -> Features:
        return {}  # servers share them

    def _choice(self) -> str:
        now = time.monotonic()
        return min(self._servers, key=lambda name: (now - self._failed_at[name] < AVOIDED_S, self._in_flight[name]))

    async def _ask(self, name: str, prompt: Prompt) -> Decision:
        server = self._servers[name]
        while True:
            try:
                decision: Decision = await server.act.remote(prompt, self._temperature, self._checksum)
                return decision
            except RayTaskError as error:
                if not isinstance(original(error), WrongWeights):
                    raise original(error) from error
                await server.load.remote(self._weights)


def remote_policy(builder: Builder, names: Sequence[str], temperature: float) -> RemotePolicy:
    servers = {name: ray.get_actor(name) for name in names}
    return RemotePolicy(servers, temperature, builder.config.runtime.wait_s)
