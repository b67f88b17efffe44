from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy import ToyPolicy, toy_config, toy_task

from distrl.errors import StaleVersion, StorageFull
from distrl.learner import checkpoint
from distrl.learner.learner import Learner
from distrl.replay.base import Sample
from distrl.runtime.learner_loop import LearnerLoop
from distrl.types import Features, Outcome, Prompt, Screen, Step, Trajectory, Tree, VersionedWeights


class FakeHost:
    """Always has the same sample, and writes down what it is told."""

    def __init__(self, version: int = 0) -> None:
        self.version = version
        self.published: list[int] = []
        self.recorded: list[int] = []
        self.priorities: dict[str, float] = {}
        self.events: list[str] = []
        self.trajectories = [self._trajectory(number) for number in range(4)]
        self.empty = False
        self.weights_missing = False

    def _trajectory(self, number: int) -> Trajectory:
        task = toy_task(number)
        screen = Screen(b"picture", 8, 8)
        (decision,) = ToyPolicy(number).act([Prompt(task.goal, screen)])
        return Trajectory(str(number), task, (Step(screen.reference(), decision),), Outcome("success"))

    def sample(self, count: int) -> Sample | None:
        if self.empty:
            return None
        ids = tuple(t.id for t in self.trajectories)
        return Sample(ids, tuple(self.trajectories), np.ones(4), np.full(4, 0.25), np.full(4, 0.5), np.full(4, 0.5))

    def first(self, count: int) -> list[Trajectory]:
        return self.trajectories[:count]

    def features(self, digests: Sequence[str]) -> Features:
        return {}

    def screens(self, digests: Sequence[str]) -> list[Screen]:
        return [Screen(b"picture", 8, 8, digest=digest) for digest in digests]

    def update_priorities(self, ids: Sequence[str], priorities: Sequence[float]) -> None:
        self.priorities.update(zip(ids, priorities, strict=True))

    def record(self, step: int, metrics: Any) -> None:
        self.recorded.append(step)

    def publish(self, weights: VersionedWeights) -> None:
        if weights.version <= self.version:
            raise StaleVersion(weights.version, self.version)
        self.version = weights.version
        self.published.append(weights.version)

    def replay_state(self) -> Tree:
        return {}

    def report(self, worker: str, kind: str, detail: str) -> None:
        self.events.append(kind)


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def learning(tmp_path: Path, host: FakeHost, clock: Clock | None = None, **changes: Any) -> LearnerLoop:
    learner = Learner(ToyPolicy(), toy_config(tmp_path, **changes), np.random.default_rng(0))
    return LearnerLoop(learner, host, tmp_path / "checkpoints", clock or Clock())


def test_a_turn_steps_records_and_publishes(tmp_path: Path) -> None:
    host = FakeHost()
    work = learning(tmp_path, host)
    work.begin()
    assert work.turn()
    assert work.turn()
    assert host.recorded == [1, 2]
    assert host.published == [1, 2]
    assert set(host.priorities) == {"0", "1", "2", "3"}


def test_without_a_sample_nothing_happens(tmp_path: Path) -> None:
    host = FakeHost()
    host.empty = True
    work = learning(tmp_path, host)
    work.begin()
    assert not work.turn()
    assert host.recorded == []


def test_a_learner_that_starts_again_publishes_its_weights_under_a_version_nobody_has_seen(tmp_path: Path) -> None:
    host = FakeHost()
    first = learning(tmp_path, host)
    first.begin()
    first.turn()
    saved = first.checkpoint()
    assert saved is not None
    first.turn(), first.turn()
    again = learning(tmp_path, host)
    checkpoint.load(saved, again.learner)
    again.begin()
    again.turn()
    assert host.published == [1, 2, 3, 4, 5]


def test_a_host_that_lost_its_weights_gets_them_again_under_their_version(tmp_path: Path) -> None:
    host = FakeHost()
    work = learning(tmp_path, host)
    work.begin()
    work.turn()
    host.weights_missing, host.empty = True, True
    host.version = 0  # as far as this version goes, nothing was published there
    assert not work.turn()
    assert host.published == [1, 1]


def test_checkpoints_are_written_when_they_are_due(tmp_path: Path) -> None:
    clock = Clock()
    work = learning(tmp_path, FakeHost(), clock, learner={"checkpoint_every_s": 60.0})
    work.begin()
    work.turn()
    assert checkpoint.latest(tmp_path / "checkpoints") is None
    clock.now_s = 61.0
    work.turn()
    assert checkpoint.latest(tmp_path / "checkpoints") is not None


def test_a_checkpoint_without_room_does_not_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    host = FakeHost()
    work = learning(tmp_path, host)
    work.begin()

    def full(*_: Any) -> Path:
        raise StorageFull("no room")

    monkeypatch.setattr(checkpoint, "save", full)
    assert work.checkpoint() is None
    assert host.events == ["checkpoint_failed"]
    assert work.turn()


def test_a_learner_that_finds_nothing_to_learn_from_publishes_and_rests(tmp_path: Path) -> None:
    """Filtered BC and nothing but failures: workers that are held for a version get one, and nobody spins."""
    host = FakeHost()
    host.trajectories = [replace(t, outcome=Outcome("failure")) for t in host.trajectories]
    work = learning(tmp_path, host, algorithm={"name": "filtered_bc"})
    work.begin()
    assert not work.turn()
    assert host.published == host.recorded == [1]
