"""What the learner tells the host without waiting; Ray itself is played by a fake."""

from __future__ import annotations

from types import SimpleNamespace

import local_ray
import pytest
from local_ray import local
from ray.exceptions import ActorDiedError

from distrl.errors import StorageFull
from distrl.host.host import Draw
from distrl.runtime.ray.clients import LearnersClient

SAMPLE = SimpleNamespace(ids=("a",))


class FakeHost:
    """Notes the calls that arrive, in order; `loses` names those that die with the process they were sent to."""

    def __init__(self, loses=(), full=()):
        self.told = []
        self.arrived = []
        self._loses = list(loses)
        self._full = list(full)

    def draw(self, count):
        return self._note("draw", Draw(SAMPLE, {"seen": 1.0}, weights_missing=False))

    def update_priorities(self, ids, priorities):
        return self._note("update_priorities", None)

    def record(self, step, metrics):
        return self._note("record", None)

    def _note(self, method, answer):
        self.told.append(method)
        if method in self._loses:
            self._loses.remove(method)
            raise ActorDiedError
        if method in self._full:
            raise StorageFull("no room")
        self.arrived.append(method)
        return answer


@pytest.fixture(autouse=True)
def ray(monkeypatch):
    return local_ray.install(monkeypatch)


def client(host):
    return LearnersClient(local(host), this_process=None)


def test_the_next_sample_is_asked_for_after_what_was_told():
    host = FakeHost()
    learners = client(host)
    learners.update_priorities(["a"], [0.5])
    learners.record(1, {})
    assert learners.sample(8) is SAMPLE
    assert host.arrived == ["update_priorities", "record", "draw"]


def test_what_died_with_the_host_is_told_again():
    host = FakeHost(loses=["update_priorities"])
    learners = client(host)
    learners.update_priorities(["a"], [0.5])
    learners.sample(8)
    assert host.arrived == ["draw", "update_priorities"]


def test_what_the_host_could_not_keep_is_raised_with_the_next_sample():
    learners = client(FakeHost(full=["record"]))
    learners.record(1, {})
    with pytest.raises(StorageFull):
        learners.sample(8)


def test_features_come_with_the_sample_and_no_others_are_asked_for():
    host = FakeHost()
    learners = client(host)
    learners.sample(8)
    assert learners.features(["seen", "unseen"]) == {"seen": 1.0}
    assert host.told == ["draw"]
