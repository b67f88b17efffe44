"""Remote inference: workers without a model, two policy servers, one of which is killed half-way."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from processes import descendants
from toy import JournalBuilder, journal, toy_config

from distrl.runtime import launch
from distrl.store.run import RunStore


class Assassin:
    """Kills one policy server once so many trajectories are in."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.killed = 0
        self.servers = 0
        self.messages: list[str] = []

    def update(self, stats: Mapping[str, Any]) -> None:
        if stats["phase"] == "train" and stats.get("trajectories", 0) >= self.at and not self.killed:
            found = [pid for pid, title in descendants(os.getpid()).items() if title.startswith("ray::ServerActor")]
            self.servers, self.killed = len(found), found[0]
            os.kill(self.killed, signal.SIGKILL)

    def message(self, text: str) -> None:
        self.messages.append(text)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Assassin]:
    config = toy_config(
        tmp_path_factory.mktemp("remote"),
        run={"learner_steps": 60},
        workers={"count": 2, "inference": "remote"},
        runtime={"policy_servers": 2, "object_store_mb": 128},
        policy={"batch_wait_ms": 2.0},
        pacing={"max_reuse": 2.0},
        learner={"canary_trajectories": 1},
    )
    assassin = Assassin(at=5)
    assert launch(config, builder=JournalBuilder, progress=assassin) == 0  # the canary raises where it disagrees
    return config.run_folder, assassin


def test_a_training_with_remote_inference_outlives_a_policy_server(run: tuple[Path, Assassin]) -> None:
    folder, assassin = run
    assert assassin.servers == 2
    assert any("policy-server" in text and "started again" in text for text in assassin.messages)
    with RunStore.read(folder) as store:
        assert store.metrics("version").step[-1] == 60
        assert store.counts().trajectories > 5


def test_a_dead_server_cost_no_episode(run: tuple[Path, Assassin]) -> None:
    with RunStore.read(run[0]) as store:
        assert store.counts().invalid == 0  # the other one answered
        assert sorted(store.ids()) == sorted(journal(run[0], "produced"))


def test_every_step_records_the_version_that_acted(run: tuple[Path, Assassin]) -> None:
    with RunStore.read(run[0]) as store:
        highest = store.metrics("version").value.max()
        versions = {step.decision.policy_version for t in store.trajectories() for step in t.steps}
        inserted = store.table("version_at_insert", "policy_version")
    assert len(versions) > 3  # servers followed the learner
    assert max(versions) <= highest
    assert (inserted["version_at_insert"] >= inserted["policy_version"]).all()


def test_the_canary_agreed_and_the_learner_adopted_what_servers_saw(run: tuple[Path, Assassin]) -> None:
    with RunStore.read(run[0]) as store:
        assert store.metrics("screens/adopted").value.sum() > 0


def test_evaluations_were_played_by_the_servers_with_the_weights_in_question(run: tuple[Path, Assassin]) -> None:
    with RunStore.read(run[0]) as store:
        assert [(entry.name, entry.episodes) for entry in store.evaluations()] == [("before", 8), ("after", 8)]
        last = store.metrics("version").value[-1]
        after = {s.decision.policy_version for t in store.evaluation_trajectories("after") for s in t.steps}
    assert after == {last}
