"""What a worker needs of the outside: a host to play for, a policy to ask, a spool to keep what is finished."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distrl.devices.base import Health
from distrl.types import Decision, Features, Lease, Prompt, Receipt, VersionedWeights


class HostClient(Protocol):
    """The host as a worker sees it. Every method raises `Unreachable` when no answer comes in time."""

    async def join(self, worker: str) -> int:
        """Report for work. Whatever was leased to a worker of this name is given back.
        The number returned was never given to any worker of this run before."""

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        """Up to `count` tasks to play; empty: ask again later; None: there will never be another one."""

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        """These will not be played here."""

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        """Hand over encoded trajectories, a receipt for each. Delivering one twice does no harm."""

    async def share(self, features: Features) -> None:
        """Offer what the policy made of screens of a trajectory that comes next. It may get lost."""

    async def latest(self, newer_than: int) -> VersionedWeights | None: ...

    async def report(self, worker: str, kind: str, detail: str) -> None:
        """Something worth a line in the run's log of events."""

    async def health(self, worker: str, health: Health) -> None:
        """How a device of this worker is now; the newest is kept."""


class FollowingPolicy(Protocol):
    """A policy that takes newer weights while it is used."""

    @property
    def version(self) -> int: ...

    async def load(self, weights: VersionedWeights) -> None:
        """Take newer weights between two batches. Raises `CorruptData`, and keeps the old ones, on a bad checksum."""


class PolicyClient(FollowingPolicy, Protocol):
    """A policy behind a queue: prompts that arrive at the same time are answered in one batch."""

    async def act(self, prompt: Prompt) -> Decision: ...

    def known_features(self, digests: Sequence[str]) -> Features:
        """What the policy made of these screens, as far as it still knows."""


class Outbox(Protocol):
    """Finished trajectories that the host has not acknowledged yet; outlives the process."""

    def put(self, identifier: str, payload: bytes, /) -> None: ...

    def pending(self) -> list[str]:
        """Oldest first."""

    def read(self, identifier: str, /) -> bytes: ...

    def remove(self, identifier: str, /) -> None: ...

    @property
    def size_bytes(self) -> int: ...
