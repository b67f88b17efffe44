"""How a version gets from the learner to those who read it; Ray itself is played by a fake."""

from __future__ import annotations

import asyncio
from typing import Any

import local_ray
import numpy as np
import pytest
from local_ray import Actor, Reference
from ray.exceptions import ActorDiedError, OwnerDiedError
from toy import ToyBuilder, toy_config

from distrl.errors import StaleVersion, Unreachable
from distrl.runtime.ray.clients import LearnersClient, WorkersClient
from distrl.runtime.ray.handle import Handle
from distrl.runtime.ray.host_actor import HostActor
from distrl.store.run import RunStore
from distrl.types import VersionedWeights


def weights(version: int) -> VersionedWeights:
    return VersionedWeights.seal(version, {"a": np.full(4, float(version))})


class RestartingHost:
    """A host's process on a real run folder. `dies_in` names the call at which another one takes its place, before or
    after the call was done; the caller hears of a death in both cases."""

    def __init__(self, builder: ToyBuilder) -> None:
        self._builder = builder
        self.dies_before = self.dies_after = ""
        self.actor = HostActor(builder)
        self.actor.ready()

    def __getattr__(self, method: str) -> Any:
        return lambda *arguments: self._call(method, *arguments)

    def _call(self, method: str, *arguments: Any) -> Any:
        if method == self.dies_before:
            self.dies_before = ""
            self.restart()
            raise ActorDiedError
        result = getattr(self.actor, method)(*arguments)
        if method == self.dies_after:
            self.dies_after = ""
            self.restart()
            raise ActorDiedError
        return result

    def restart(self) -> None:
        self.actor.close()
        self.actor = HostActor(self._builder)
        self.actor.ready()


class Learner:
    """The learner's process: what it hands over is read from shared memory, which keeps a copy."""

    client: LearnersClient

    def hand_over(self, version: int) -> Any:
        self.reads = getattr(self, "reads", 0) + 1
        return {name: array.copy() for name, array in self.client.hand_over(version).items()}


class Worker:
    def __init__(self) -> None:
        self.heard: list[int] = []

    def weights_published(self, version: int) -> None:
        self.heard.append(version)


class World:
    def __init__(self, host: RestartingHost) -> None:
        self.host = host
        self.handle: Handle[HostActor] = Handle(Actor(host), "host", 10.0)
        self.learner = Learner()
        self.learner.client = LearnersClient(self.handle, Actor(self.learner))
        self.worker = Worker()
        self.reader = WorkersClient(self.handle, "worker", Actor(self.worker))

    def publish(self, version: int) -> None:
        self.learner.client.publish(weights(version))

    def latest(self, newer_than: int = 0) -> VersionedWeights | None:
        return asyncio.run(self.reader.latest(newer_than))


@pytest.fixture
def world(tmp_path, monkeypatch):
    local_ray.install(monkeypatch)

    async def awaited(self: Reference) -> Any:
        return self.get()

    monkeypatch.setattr(Reference, "__await__", lambda self: awaited(self).__await__(), raising=False)
    config = toy_config(tmp_path)
    RunStore.create(config.run_folder, {}, {}).close()
    world = World(RestartingHost(ToyBuilder(config)))
    yield world
    world.host.actor.close()


def test_a_published_version_can_be_had_at_once(world):
    world.publish(3)
    found = world.latest(2)
    assert (found.version, found.intact, found.arrays["a"].tolist()) == (3, True, [3.0] * 4)
    assert world.latest(3) is None
    assert world.learner.reads == 1


def test_a_reader_that_has_asked_once_is_told_of_every_version(world):
    assert world.latest() is None
    world.publish(1), world.publish(2)
    assert world.worker.heard == [1, 2]


def test_a_worker_that_is_lost_is_told_no_longer(world):
    world.latest()
    world.host.actor.lose_worker("worker")
    world.publish(1)
    assert world.worker.heard == []


def test_a_host_that_started_again_hears_of_its_readers_when_they_ask_next(world):
    world.latest()
    world.host.restart()
    world.latest()
    world.publish(1)
    assert world.worker.heard == [1]


@pytest.mark.parametrize("call", ["fetch", "publish"])
def test_a_host_that_dies_while_a_version_is_published_fetches_it_again(world, call):
    world.host.dies_before = call
    world.publish(3)
    assert world.latest().version == 3


def test_a_version_that_was_taken_by_a_host_that_died_before_it_could_say_so_is_published_all_the_same(world):
    world.host.dies_after = "publish"
    world.publish(3)
    assert world.latest().version == 3
    with RunStore.read(world.host.actor._host.store.folder) as store:
        assert store.metrics("version").value.tolist() == [3]


def test_a_host_that_started_again_says_that_its_weights_are_missing_and_takes_the_same_version_again(world):
    world.publish(3)
    world.host.restart()
    assert world.latest() is None
    world.learner.client.sample(4)
    assert world.learner.client.weights_missing
    world.publish(3)
    assert world.latest().version == 3
    world.learner.client.sample(4)
    assert not world.learner.client.weights_missing


def test_an_older_version_is_refused(world):
    world.publish(3)
    with pytest.raises(StaleVersion):
        world.publish(2)


def test_weights_that_went_with_their_host_are_out_of_reach_and_no_error_of_the_worker(world):
    world.publish(3)
    world.host.actor._host.latest(0).reference[0].error = OwnerDiedError("", "", "")
    with pytest.raises(Unreachable, match="OwnerDiedError"):
        world.latest()


def test_torn_weights_reach_nobody_unnoticed(world):
    torn = VersionedWeights(3, {"a": np.zeros(4)}, weights(3).checksum)
    world.learner.client.publish(torn)
    assert not world.latest().intact
