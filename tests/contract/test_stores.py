"""Whatever keeps trajectories keeps them whole, once, in order, and refuses what is not one."""

import dataclasses
import random
import uuid

import pytest

from distrl.errors import CorruptData
from distrl.store import codec
from distrl.store.run import RunStore
from distrl.types import Answer, Decision, Outcome, Screen, Step, Swipe, Task, Trajectory, Type
from distrl.worker.spool import Spool

STRANGE = 'tab\t newline\n quote" emoji 🙂 comma, nul\x00 <b>'


def trajectory(number: int, kind: str = "failure") -> Trajectory:
    task = Task(
        f"task {number}", "general", "train", "a/b", STRANGE, number, 15, {"n": number}, (("set", "a/b", True),)
    )
    screens = [Screen(f"{number}/{i}".encode(), 192, 384, (), "clock") for i in range(3)]
    actions = (Type(STRANGE), Swipe(1, 2, 3, 4), Answer(STRANGE))
    steps = tuple(
        Step(screen, Decision(action, STRANGE, (1, 2), (-0.1, -0.2), 0.3, number, 0.4), 0.5)
        for screen, action in zip(screens, actions, strict=True)
    )
    id_ = str(uuid.UUID(int=random.Random(number).getrandbits(128)))
    return Trajectory(id_, task, steps, Outcome(kind, STRANGE), screens[0], STRANGE, STRANGE, 1.0, 2.0)


class SpoolKeeper:
    """The worker's spool, with the codec in front of it."""

    def __init__(self, folder):
        self.spool = Spool(folder)

    def keep(self, sent):
        self.spool.put(sent.id, codec.encode(sent))

    def kept(self):
        return [codec.decode(self.spool.read(id_)) for id_ in self.spool.pending()]

    def close(self):
        pass


class TrainingKeeper:
    """The run folder, as the host uses it."""

    def __init__(self, folder):
        self.store = RunStore.open(folder) if folder.exists() else RunStore.create(folder, {}, {})

    def keep(self, sent):
        self.store.add_trajectory(sent, version_at_insert=7)

    def kept(self):
        return [self.with_images(found) for found in self.store.trajectories()]

    def with_images(self, found):
        steps = tuple(dataclasses.replace(s, screen=self.store.screen(s.screen.digest)) for s in found.steps)
        return dataclasses.replace(found, steps=steps, last_screen=self.store.screen(found.last_screen.digest))

    def close(self):
        self.store.close()


class EvaluationKeeper(TrainingKeeper):
    """The run folder, as an evaluation uses it: what it plays is kept under the evaluation's name."""

    def keep(self, sent):
        played = {t.id: t for t in (*self.kept(), sent)}
        self.store.add_evaluation("before", 0, list(played.values()), at=0.0)

    def kept(self):
        return [self.with_images(found) for found in self.store.evaluation_trajectories("before")]


@pytest.fixture(params=[SpoolKeeper, TrainingKeeper, EvaluationKeeper])
def opened(request, tmp_path):
    """A function that opens the same place again, as after a restart."""
    keepers = []

    def open_again():
        for keeper in keepers:
            keeper.close()
        keepers.append(request.param(tmp_path / "place"))
        return keepers[-1]

    yield open_again
    keepers[-1].close()


def test_a_trajectory_comes_back_as_it_went(opened):
    keeper = opened()
    keeper.keep(trajectory(1))
    assert keeper.kept() == [trajectory(1)]


def test_the_order_of_arrival_is_the_order_of_reading_also_after_a_restart(opened):
    for number in (5, 1, 9, 3):
        opened().keep(trajectory(number))
    assert [found.id for found in opened().kept()] == [trajectory(number).id for number in (5, 1, 9, 3)]


def test_keeping_twice_keeps_once(opened):
    keeper = opened()
    for number in (1, 2, 1):
        keeper.keep(trajectory(number))
    assert [found.id for found in opened().kept()] == [trajectory(1).id, trajectory(2).id]


def test_elements_are_not_kept(opened):
    keeper = opened()
    keeper.keep(trajectory(1))
    assert all(step.screen.elements == () for step in keeper.kept()[0].steps)


def test_what_cannot_be_read_back_is_refused_and_nothing_is_kept(opened):
    keeper = opened()
    broken = dataclasses.replace(trajectory(1), task=dataclasses.replace(trajectory(1).task, params={"n": object()}))
    with pytest.raises(CorruptData):
        keeper.keep(broken)
    assert opened().kept() == []
