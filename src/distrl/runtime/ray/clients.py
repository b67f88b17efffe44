"""The host, called from another process. Every call has a deadline and says what it waited for."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec

from ray.exceptions import RayError

from distrl.devices.base import Health
from distrl.errors import ProcessDied, StaleVersion, Unreachable
from distrl.replay.base import Sample
from distrl.runtime.ray.handle import Handle, RemoteCall
from distrl.runtime.ray.host_actor import HostActor
from distrl.types import Features, Lease, Receipt, Screen, Trajectory, Tree, VersionedWeights, Weights

P = ParamSpec("P")


class WorkersClient:
    """A `HostClient` for one worker or policy server, whose process hears of new weights from the host."""

    def __init__(self, host: Handle[HostActor], worker: str, this_process: Any) -> None:
        self._host = host
        self._worker = worker
        self._this_process = this_process

    async def join(self, worker: str) -> int:
        return await self._host.answer(HostActor.join, worker)

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        return await self._host.answer(HostActor.lease, worker, count)

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        await self._host.answer(HostActor.give_back, list(lease_ids))

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        return await self._host.answer(HostActor.deliver, list(payloads))

    async def share(self, features: Features) -> None:
        """Not waited for. Ray keeps the order of calls, so it is there before the delivery that follows."""
        try:
            self._host.start(HostActor.share, features)
        except RayError as error:
            raise Unreachable("host", "share", 0.0, type(error).__name__) from error

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        """The arrays are views into the shared memory of this machine: one copy for all of its workers."""
        newest = await self._host.answer(HostActor.latest, newer_than, self._worker, self._this_process)
        if newest is None:
            return None
        arriving: RemoteCall[Weights] = RemoteCall("host", "latest", newest.reference[0])
        return VersionedWeights(newest.version, await arriving.answer(self._host.wait_s), newest.checksum)

    async def report(self, worker: str, kind: str, detail: str) -> None:
        await self._host.answer(HostActor.report, worker, kind, detail)

    async def health(self, worker: str, health: Health) -> None:
        await self._host.answer(HostActor.health, worker, health)


@dataclass(frozen=True)
class Told:
    """Something that the host was told without waiting."""

    call: RemoteCall[None]
    again: Callable[[], None]
    """Tells it again, and waits."""


class LearnersClient:
    """The host as the learner sees it. A host that is being restarted is waited for.

    Nothing comes back of priorities and metrics, so they are not waited for; Ray keeps the order of calls, so the next
    sample is drawn by them. Whether they arrived is looked at after that, and what went wrong is raised there.
    """

    def __init__(self, host: Handle[HostActor], this_process: Any) -> None:
        self._host = host
        self._this_process = this_process
        self._told: list[Told] = []
        self._features: Features = {}
        """Features that came with the last sample."""
        self._outgoing: VersionedWeights | None = None
        self.weights_missing = False

    @property
    def version(self) -> int:
        return self._host.ask_patiently(HostActor.version)

    def sample(self, count: int) -> Sample | None:
        draw = self._host.ask_patiently(HostActor.draw, count)
        self._settle()
        self._features, self.weights_missing = draw.features, draw.weights_missing
        return draw.sample

    def first(self, count: int) -> list[Trajectory]:
        return self._host.ask_patiently(HostActor.first, count)

    def features(self, digests: Sequence[str]) -> Features:
        """Those that came with the sample. The host had no others then, and asking again would cost another wait."""
        return {digest: self._features[digest] for digest in digests if digest in self._features}

    def screens(self, digests: Sequence[str]) -> list[Screen]:
        return self._host.ask_patiently(HostActor.screens, list(digests))

    def update_priorities(self, ids: Sequence[str], priorities: Sequence[float]) -> None:
        self._tell(HostActor.update_priorities, list(ids), list(priorities))

    def record(self, step: int, metrics: Mapping[str, float]) -> None:
        self._tell(HostActor.record, step, dict(metrics))

    def publish(self, weights: VersionedWeights) -> None:
        """Returns once workers can have them; until then the arrays must stay as they are."""
        self._outgoing = weights
        try:
            while not self._publish(weights):
                pass  # the host died in between and is another process now, which has to fetch them itself
        except StaleVersion:
            # It was taken, and the host died before it could say so.
            if self.version != weights.version:
                raise
        finally:
            self._outgoing = None

    def hand_over(self, version: int) -> Weights:
        """The arrays that are being published: called in another thread of this process while `publish` waits."""
        outgoing = self._outgoing
        if outgoing is None or outgoing.version != version:
            raise StaleVersion(version, outgoing.version if outgoing else version)
        return outgoing.arrays

    def replay_state(self) -> Tree:
        self._settle()
        return self._host.ask_patiently(HostActor.replay_state)

    def report(self, worker: str, kind: str, detail: str) -> None:
        self._host.ask_patiently(HostActor.report, worker, kind, detail)

    def _publish(self, weights: VersionedWeights) -> bool:
        (reference,) = self._host.ask_patiently(HostActor.fetch, weights.version, self._this_process)
        written: RemoteCall[Weights] = RemoteCall("host", "fetch", reference)
        with contextlib.suppress(ProcessDied):  # then `publish` finds another one
            written.result(self._host.wait_s)
        return self._host.ask_patiently(HostActor.publish, weights.version, weights.checksum)

    def _tell(self, method: Callable[Concatenate[HostActor, P], None], /, *args: P.args, **kwargs: P.kwargs) -> None:
        self._told.append(
            Told(
                self._host.start(method, *args, **kwargs),
                lambda: self._host.ask_patiently(method, *args, **kwargs),
            )
        )

    def _settle(self) -> None:
        """See that all that was told has arrived; a host that died in between is told again."""
        told, self._told = self._told, []
        for each in told:
            try:
                each.call.result(self._host.wait_s)
            except ProcessDied:
                each.again()
