"""What the learner tells the host without waiting, without Ray: a reference is a function that gives the answer."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from ray.exceptions import ActorDiedError

from distrl.errors import StorageFull, Unreachable
from distrl.runtime.ray import clients
from distrl.runtime.ray.clients import LearnersClient


class Handle:
    """Calls are kept in order; `loses` names those that die with the process they were sent to."""

    def __init__(self, answers, loses=()):
        self.told = []
        self.arrived = []
        self._answers = answers
        self._loses = list(loses)
        self.call = SimpleNamespace(remote=self._remote)

    def _remote(self, method, *arguments):
        self.told.append(method)
        if method in self._loses:
            self._loses.remove(method)
            return lost(method)
        self.arrived.append(method)
        return lambda: self._answers[method]


def lost(method):
    def answer():
        raise Unreachable("host", method, 1.0) from ActorDiedError()

    return answer


def refused():
    raise StorageFull("no room")


@pytest.fixture(autouse=True)
def no_ray(monkeypatch):
    monkeypatch.setattr(clients, "answer", lambda who, operation, reference, wait_s: reference())


SAMPLE = (SimpleNamespace(ids=("a",)), {"seen": 1.0})
ANSWERS = {"draw": SAMPLE, "record": None, "update_priorities": None, "replay_state": {}}


def test_the_next_sample_is_asked_for_after_what_was_told():
    handle = Handle(ANSWERS)
    client = LearnersClient(handle, 1.0)
    client.update_priorities(["a"], [0.5])
    client.record(1, {})
    assert client.sample(8) is SAMPLE[0]
    assert handle.arrived == ["update_priorities", "record", "draw"]


def test_what_died_with_the_host_is_told_again():
    handle = Handle(ANSWERS, loses=["update_priorities"])
    client = LearnersClient(handle, 1.0)
    client.update_priorities(["a"], [0.5])
    client.sample(8)
    assert handle.arrived == ["draw", "update_priorities"]


def test_what_the_host_could_not_keep_is_raised_with_the_next_sample():
    handle = Handle(ANSWERS)
    client = LearnersClient(handle, 1.0)
    client.record(1, {})
    method, ask, _ = client._sent[0]
    client._sent[0] = (method, ask, refused)
    with pytest.raises(StorageFull):
        client.sample(8)


def test_features_come_with_the_sample_and_no_others_are_asked_for():
    handle = Handle(ANSWERS)
    client = LearnersClient(handle, 1.0)
    client.sample(8)
    assert client.features(["seen", "unseen"]) == {"seen": 1.0}
    assert handle.told == ["draw"]
