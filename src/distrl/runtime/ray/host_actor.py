"""The host's process: what other processes may ask of the host, a line for each question.

Weights are never here. They are in shared memory, written once by the learner's process and owned by this one, so that
they outlive the learner; this process keeps the reference, and hands it out.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import ray

from distrl.devices.base import Health
from distrl.host.host import Draw, Host
from distrl.runtime.join_requests import JoinRequest, JoinRequests, JoinStatus
from distrl.runtime.ray.handle import Handle
from distrl.runtime.ray.processes import Process
from distrl.runtime.topology import Builder, topology
from distrl.store.provenance import code_digest
from distrl.types import Features, Lease, Receipt, Screen, Trajectory, Tree, Weights


class WeightSource(Protocol):
    """The learner's process, as the host sees it."""

    def hand_over(self, version: int) -> Weights: ...


class WeightListener(Protocol):
    """A process that follows the host's weights."""

    async def weights_published(self, version: int) -> None: ...


@dataclass(frozen=True, slots=True)
class SharedWeights:
    """Weights in shared memory: whoever reads them maps them and compares the checksum."""

    version: int
    checksum: str
    reference: tuple[Any]
    """Of the arrays, in a tuple: Ray replaces a bare argument by what it refers to."""


class HostActor(Process):
    """The host. One call at a time, which is all the locking there is."""

    def _build(self, builder: Builder, *details: Any) -> None:
        self._plain_host = builder.host(time.time)
        self._wait_s = builder.config.runtime.wait_s
        self._fetched: tuple[int, Any] | None = None
        self._joining = JoinRequests(code_digest(), time.time)

    @property
    def _host(self) -> Host:
        self.ready()
        return self._plain_host

    # -- workers

    def join(self, worker: str) -> int:
        return self._host.join(worker)

    def lease(self, worker: str, count: int) -> list[Lease]:
        return self._host.lease(worker, count)

    def give_back(self, lease_ids: Sequence[str]) -> None:
        self._host.give_back(lease_ids)

    def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        return self._host.deliver_all(payloads)

    def share(self, features: Features) -> None:
        self._host.share(features)

    def report(self, worker: str, kind: str, detail: str) -> None:
        self._host.report(worker, kind, detail)

    def health(self, worker: str, health: Health) -> None:
        self._host.health(worker, health)

    # -- the learner

    def draw(self, count: int) -> Draw:
        return self._host.draw(count)

    def first(self, count: int) -> list[Trajectory]:
        return self._host.first(count)

    def screens(self, digests: Sequence[str]) -> list[Screen]:
        return self._host.screens(digests)

    def update_priorities(self, ids: Sequence[str], priorities: Sequence[float]) -> None:
        self._host.update_priorities(ids, priorities)

    def record(self, step: int, metrics: Mapping[str, float]) -> None:
        self._host.record(step, metrics)

    def replay_state(self) -> Tree:
        return self._host.replay_state()

    # -- weights

    def version(self) -> int:
        return self._host.version

    def fetch(self, version: int, learner: Any) -> tuple[Any]:
        """Have the learner's process write its weights into shared memory; answers the reference at once. What a call
        returns belongs to the caller: the arrays are copied once, and are ours."""
        self.ready()
        source: Handle[WeightSource] = Handle(learner, "learner", self._wait_s)
        self._fetched = (version, source.start(WeightSource.hand_over, version).reference)
        return (self._fetched[1],)

    def publish(self, version: int, checksum: str) -> bool:
        """Give out what was fetched, once it is there. False when this is another process than the one that fetched
        it. Raises what the host raises."""
        if self._fetched is None or self._fetched[0] != version:
            return False
        self._host.announce(SharedWeights(version, checksum, (self._fetched[1],)))
        self._fetched = None
        return True

    def latest(self, newer_than: int, worker: str, listener: Any) -> SharedWeights | None:
        """Newer weights, if there are any. Asking subscribes: from then on the listener is told of each version. A host
        that starts again hears of its listeners when they ask next."""
        process: Handle[WeightListener] = Handle(listener, worker, self._wait_s)
        self._host.subscribe(worker, lambda version: notify(process, version))
        newest = self._host.latest(newer_than, worker)
        assert newest is None or isinstance(newest, SharedWeights)  # nothing else is published here
        return newest

    # -- the run

    def lose_worker(self, worker: str) -> None:
        self._host.lose_worker(worker)

    def quarantined(self) -> int:
        return self._host.quarantined

    def evaluated(self) -> list[str]:
        return self._host.evaluated()

    def keep_evaluation(self, name: str, step: int, trajectories: Sequence[Trajectory]) -> None:
        self._host.keep_evaluation(name, step, trajectories)

    def mark(self, trained_s: float) -> None:
        self._host.mark(trained_s)

    def trained_s(self) -> float:
        return self._host.trained_s

    def stats(self) -> dict[str, float]:
        return self._host.stats()

    def close(self) -> None:
        self._host.close()

    # -- machines that join

    def poll(self, candidate: Tree, leaving: bool) -> Tree:
        self.ready()
        return self._joining.poll(candidate, leaving)

    def join_requests(self, statuses: Mapping[str, JoinStatus]) -> list[JoinRequest]:
        return self._joining.exchange(statuses)

    def end_joining(self, why: str) -> int:
        return self._joining.end(why)


def notify(listener: Handle[WeightListener], version: int) -> None:
    """Not waited for. A listener that does not hear it, because it is starting again, asks by itself."""
    listener.start(WeightListener.weights_published, version)


def the_host(builder: Builder) -> Handle[HostActor]:
    """Found by name: a process that is started again gets no handle from anybody."""
    name = topology(builder.config).host
    return Handle(ray.get_actor(name), name, builder.config.runtime.wait_s)
