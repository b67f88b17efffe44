"""Remote inference: a policy that is asked in other processes.

Invariant: a server that dies costs nothing but time while another one, or the same one started again, answers within
`runtime.wait_s`; after that the episode is invalid, never failed.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import ray

from distrl.backoff import Backoff
from distrl.errors import PolicyUnreachable, Unreachable
from distrl.runtime.ray.handle import Handle
from distrl.runtime.ray.policy_server import OtherWeights, ServerActor
from distrl.runtime.topology import Builder
from distrl.types import Decision, Features, Prompt, VersionedWeights

AVOIDED_S = 5.0
"""A server that has just failed is asked only if there is no other."""
NEWEST = sys.maxsize


class RemotePolicy:
    """A `PolicyClient` whose policy is in other processes. One per worker, or per evaluation."""

    def __init__(self, servers: Mapping[str, Any], temperature: float, wait_s: float) -> None:
        self._servers: dict[str, Handle[ServerActor]] = {
            name: Handle(server, name, wait_s) for name, server in servers.items()
        }
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
                return await asyncio.wait_for(self._ask(self._servers[name], seen), left_s)
            except (Unreachable, TimeoutError):
                self._failed_at[name] = time.monotonic()
                await backoff.wait()
            finally:
                self._in_flight[name] -= 1
        raise PolicyUnreachable(list(self._servers), self._wait_s)

    async def load(self, weights: VersionedWeights) -> None:
        """From now on only decisions under these very weights count: an evaluation."""
        self._checksum = weights.checksum
        self._weights = ray.put(weights)

    def known_features(self, digests: Sequence[str]) -> Features:
        return {}  # servers share them

    def _choice(self) -> str:
        now = time.monotonic()
        return min(self._servers, key=lambda name: (now - self._failed_at[name] < AVOIDED_S, self._in_flight[name]))

    async def _ask(self, server: Handle[ServerActor], prompt: Prompt) -> Decision:
        while True:
            try:
                asked = server.start(ServerActor.act, prompt, self._temperature, self._checksum)
                return await asked.answer(self._wait_s)
            except OtherWeights:
                await server.start(ServerActor.load, self._weights).answer(self._wait_s)


def remote_policy(builder: Builder, names: Sequence[str], temperature: float) -> RemotePolicy:
    servers = {name: ray.get_actor(name) for name in names}
    return RemotePolicy(servers, temperature, builder.config.runtime.wait_s)
