"""The host, called from another process. Every call has a deadline and says what it waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from distrl.devices.base import Health
from distrl.errors import StaleVersion, Unreachable
from distrl.replay.base import Sample
from distrl.types import Features, Lease, Receipt, Screen, Trajectory, Tree, VersionedWeights

RETRY_S = 0.5
SHELVING_S = 0.01
"""Between two questions whether the host is done with a version."""

Shelved = Literal["done", "busy", "unknown"]
"""What has become of a version that the host was given: workers can have it; not yet; it was never given."""


def answer(who: str, operation: str, reference: Any, wait_s: float) -> Any:
    """What a process answers. Raises its own error as it was there, or `Unreachable`."""
    try:
        return ray.get(reference, timeout=wait_s)
    except RayTaskError as error:
        raise original(error) from error
    except RayError as error:
        raise Unreachable(who, operation, wait_s, type(error).__name__) from error


def patient_answer(who: str, operation: str, ask: Callable[[], Any], wait_s: float) -> Any:
    """The same of a process that may be starting again: it is asked until it answers. Only for calls that may be made
    twice without harm."""
    deadline = time.monotonic() + wait_s
    while True:
        try:
            return answer(who, operation, ask(), max(0.1, deadline - time.monotonic()))
        except Unreachable as error:
            if time.monotonic() >= deadline or not isinstance(error.__cause__, RayActorError):
                raise
            time.sleep(RETRY_S)


def original(error: RayTaskError) -> Exception:
    """The error that was raised in the other process."""
    cause = error.cause
    return cause if isinstance(cause, Exception) else error


class WorkersClient:
    """A `HostClient` for one worker."""

    def __init__(self, host: Any, worker: str, wait_s: float) -> None:
        self._host = host
        self._worker = worker
        self._wait_s = wait_s

    async def join(self, worker: str) -> int:
        number: int = await self._call("join", worker)
        return number

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        leases: list[Lease] = await self._call("lease", worker, count)
        return leases

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        await self._call("give_back", list(lease_ids))

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        receipts: list[Receipt] = await self._call("deliver_all", list(payloads))
        return receipts

    async def share(self, features: Features) -> None:
        """Not waited for. Ray keeps the order of calls, so it is there before the delivery that follows."""
        try:
            self._host.call.remote("share", features)
        except RayError as error:
            raise Unreachable("host", "share", 0.0, type(error).__name__) from error

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        """The arrays are views into the shared memory of this machine: one copy for all of its workers."""
        reference = await self._wait("latest", self._host.latest.remote(newer_than, self._worker))
        weights: VersionedWeights | None = reference and await self._wait("latest", reference[0])
        return weights

    async def report(self, worker: str, kind: str, detail: str) -> None:
        await self._call("report", worker, kind, detail)

    async def health(self, worker: str, health: Health) -> None:
        await self._call("health", worker, health)

    async def _call(self, method: str, *arguments: Any) -> Any:
        return await self._wait(method, self._host.call.remote(method, *arguments))

    async def _wait(self, operation: str, reference: Any) -> Any:
        try:
            return await asyncio.wait_for(reference, self._wait_s)
        except RayTaskError as error:
            raise original(error) from error
        except (RayError, TimeoutError) as error:
            raise Unreachable("host", operation, self._wait_s, type(error).__name__) from error


class LearnersClient:
    """The host as the learner sees it. A host that is being restarted is waited for.

    Nothing comes back of priorities and metrics, so they are not waited for; Ray keeps the order of calls, so the next
    sample is drawn by them. Whether they arrived is looked at after that, and what went wrong is raised there.
    """

    def __init__(self, host: Any, wait_s: float) -> None:
        self._host = host
        self._wait_s = wait_s
        self._sent: list[tuple[str, Callable[[], Any], Any]] = []
        """What was told without waiting: operation, how to tell it again, the answer to come."""
        self._brought: Features = {}
        """Features that came with the last sample."""

    @property
    def version(self) -> int:
        return int(self._call("version"))

    def sample(self, count: int) -> Sample | None:
        drawn: tuple[Sample, Features] | None = self._call("draw", count)
        self._settle()
        sample, self._brought = drawn or (None, {})
        return sample

    def first(self, count: int) -> list[Trajectory]:
        return list(self._call("first", count))

    def features(self, digests: Sequence[str]) -> Features:
        """Those that came with the sample. The host had no others then, and asking again would cost another wait."""
        return {digest: self._brought[digest] for digest in digests if digest in self._brought}

    def screens(self, digests: Sequence[str]) -> list[Screen]:
        return list(self._call("screens", list(digests)))

    def update_priorities(self, ids: Sequence[str], priorities: Sequence[float]) -> None:
        self._tell("update_priorities", list(ids), list(priorities))

    def record(self, step: int, metrics: Mapping[str, float]) -> None:
        self._tell("record", step, dict(metrics))

    def publish(self, weights: VersionedWeights) -> None:
        """Returns once workers can have them."""
        try:
            self._shelve_and_publish(weights)
        except StaleVersion:
            # It was taken, and the host died before it could say so.
            if self.version != weights.version:
                raise

    def _shelve_and_publish(self, weights: VersionedWeights) -> None:
        deadline = time.monotonic() + self._wait_s
        status: Shelved = "unknown"
        while status != "done":
            if time.monotonic() > deadline:
                raise Unreachable("host", "publish", self._wait_s, f"the weights are {status}")
            if status == "unknown":  # also when the host has died in between and is another one now
                self._patiently("shelve", lambda: self._host.shelve.remote(weights))
            else:
                time.sleep(SHELVING_S)
            status = self._patiently("publish", lambda: self._host.publish.remote(weights.version))

    def replay_state(self) -> Tree:
        self._settle()
        return dict(self._call("replay_state"))

    def report(self, worker: str, kind: str, detail: str) -> None:
        self._call("report", worker, kind, detail)

    def _tell(self, method: str, *arguments: Any) -> None:
        def ask() -> Any:
            return self._host.call.remote(method, *arguments)

        self._sent.append((method, ask, ask()))

    def _settle(self) -> None:
        """See that all that was told has arrived; a host that died in between is told again."""
        sent, self._sent = self._sent, []
        for method, ask, told in sent:
            try:
                answer("host", method, told, self._wait_s)
            except Unreachable as error:
                if not isinstance(error.__cause__, RayActorError):
                    raise
                self._patiently(method, ask)

    def _call(self, method: str, *arguments: Any) -> Any:
        return self._patiently(method, lambda: self._host.call.remote(method, *arguments))

    def _patiently(self, operation: str, ask: Callable[[], Any]) -> Any:
        return patient_answer("host", operation, ask, self._wait_s)
