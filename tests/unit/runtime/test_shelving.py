"""How a version gets from the learner to the host's shelf, without Ray: its store is a dict, a call is a call."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from distrl.errors import CorruptData, StaleVersion
from distrl.runtime.ray import actors, clients
from distrl.runtime.ray.actors import HostActor
from distrl.runtime.ray.clients import LearnersClient
from distrl.types import VersionedWeights

WEIGHTS = VersionedWeights.seal(3, {"a": np.arange(4.0)})


class KeptHost:
    def __init__(self) -> None:
        self.version = 0
        self.taken: list[VersionedWeights] = []

    def publish(self, weights: VersionedWeights, *, verified: bool) -> None:
        assert verified
        if weights.version <= self.version:
            raise StaleVersion(weights.version, self.version)
        self.version = weights.version
        self.taken.append(weights)

    def latest(self, newer_than: int, worker: str) -> Any:
        return self.taken[-1] if self.taken and self.version > newer_than else None


class Handle:
    """An actor's handle: `handle.method.remote(...)` calls it at once. `dies_before` names the call at which another
    process takes its place, with the same host on disk."""

    def __init__(self, host: KeptHost, dies_before: str = "") -> None:
        self._host = host
        self._dies_before = dies_before
        self._start()

    def _start(self) -> None:
        self.actor = HostActor(SimpleNamespace(host=lambda now: self._host))
        self.actor.ready()

    def __getattr__(self, method: str) -> Any:
        if method == self._dies_before:
            self._dies_before = ""
            self._start()
        return SimpleNamespace(remote=getattr(self.actor, method))


@pytest.fixture(autouse=True)
def no_ray(monkeypatch):
    store: dict[str, Any] = {}

    def put(value):
        store[f"ref-{len(store)}"] = value
        return f"ref-{len(store) - 1}"

    monkeypatch.setattr(actors.ray, "put", put)
    monkeypatch.setattr(actors.ray, "get", lambda reference: store[reference])
    monkeypatch.setattr(clients, "answer", lambda who, operation, reference, wait_s: reference)
    return store


def test_a_published_version_can_be_had_at_once(no_ray):
    handle = Handle(KeptHost())
    LearnersClient(handle, 30.0).publish(WEIGHTS)
    (reference,) = handle.actor.latest(2, "worker")
    assert no_ray[reference] is WEIGHTS
    assert handle.actor.latest(3, "worker") is None


def test_the_host_answers_others_while_it_makes_a_version_ready(monkeypatch):
    answered = threading.Event()
    slow = actors.into_shared_memory

    def waits(weights):
        assert answered.wait(30)
        return slow(weights)

    monkeypatch.setattr(actors, "into_shared_memory", waits)
    actor = Handle(KeptHost()).actor
    actor.shelve(WEIGHTS)
    assert actor.publish(3) == "busy"
    assert actor.latest(0, "worker") is None
    answered.set()
    actor._shelving.shutdown(wait=True)
    assert actor.publish(3) == "done"


def test_a_host_that_dies_before_publishing_is_given_the_version_again():
    host = KeptHost()
    LearnersClient(Handle(host, dies_before="publish"), 30.0).publish(WEIGHTS)
    assert [weights.version for weights in host.taken] == [3]


def test_torn_weights_never_reach_the_host():
    host = KeptHost()
    torn = VersionedWeights(3, {"a": np.zeros(4)}, WEIGHTS.checksum)
    with pytest.raises(CorruptData):
        LearnersClient(Handle(host), 30.0).publish(torn)
    assert host.taken == []
