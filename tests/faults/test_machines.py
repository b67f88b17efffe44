"""Machines that join a training, leave it and die: nothing lost, nothing doubled, and the others never pause.

Each machine is a Ray node of its own on a loopback address, with devices, spool and processes of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from processes import actor, alive, descendants, free_port
from toy import JournalBuilder, ToyDevice, journal, toy_config

from distrl.config import Config
from distrl.runtime import launch
from distrl.runtime.ray.tokens import write_token
from distrl.store.run import RunStore


class Machine:
    """A `distrl worker` in a process of its own."""

    def __init__(self, config: Config, name: str, *options: str) -> None:
        address = f"{config.runtime.listen}:{config.runtime.port}"
        spool = str(config.run_folder / "spool")
        main = "from distrl.cli.main import main; main()"
        clean = {key: value for key, value in os.environ.items() if not key.startswith("RAY_AUTH")}
        command = [sys.executable, "-c", main, "worker", "--address", address, "--token", str(config.runtime.token)]
        self.process = subprocess.Popen(
            [*command, "--name", name, "--devices", "2", "--spool", spool, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=clean,
        )
        self.lines: list[str] = []
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def output(self) -> str:
        return "".join(self.lines)

    def die(self) -> list[int]:
        """As if somebody had pulled the plug: nobody in there has time for a last word."""
        pids = [self.process.pid, *descendants(self.process.pid)]
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()
        return pids

    def _listen(self) -> None:
        assert self.process.stdout is not None
        self.lines.extend(self.process.stdout)


class Director:
    """Acts out a script while the training goes on: each scene begins when the condition of the last one holds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.script: Iterator[Callable[[], bool]] = iter(())
        self.waiting_for: Callable[[], bool] | None = None
        self.messages: list[str] = []
        self.finished = False
        self.deadline = (
            time.monotonic() + 900.0
        )  # only ever reached by a run that hangs; a busy machine may take minutes

    def play(self, script: Iterator[Callable[[], bool]]) -> None:
        self.script, self.waiting_for, self.finished = script, None, False

    def update(self, stats: Mapping[str, Any]) -> None:
        if stats["phase"] != "train" or self.finished:
            return
        assert time.monotonic() < self.deadline, f"stuck: {self.waiting_for}; {self.messages}"
        if self.waiting_for is None or self.waiting_for():
            self.waiting_for = next(self.script, None)
            self.finished = self.waiting_for is None

    def message(self, text: str) -> None:
        self.messages.append(text)

    def said(self, text: str) -> Callable[[], bool]:
        return lambda: any(text in message for message in self.messages)

    def delivered(self, worker: str, more: int) -> Callable[[], bool]:
        goal = count(self.folder, worker) + more
        return lambda: count(self.folder, worker) >= goal


class SlowHereBuilder(JournalBuilder):
    """The training's own devices are so slow that it needs the other machines to come to its end."""

    async def device(self, worker: str, slot: int) -> Any:
        return ToyDevice(f"toy://{worker}/{slot}", latency_s=3.0 if worker == "worker-0" else 0.05)


def count(folder: Path, worker: str) -> int:
    with RunStore.read(folder) as store:
        return sum(trajectory.worker == worker for trajectory in store.trajectories())


class Story:
    """What the tests look at."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.folder = config.run_folder
        self.director = Director(self.folder)
        self.machines: list[Machine] = []
        self.codes: list[int] = []
        self.dead: list[int] = []
        self.while_one_was_dying = 0

    def join(self, name: str, *options: str) -> Machine:
        self.machines.append(Machine(self.config, name, *options))
        return self.machines[-1]

    def first_act(self) -> Iterator[Callable[[], bool]]:
        yield self.director.delivered("worker-0", 3)
        left = self.join("left")
        killed = self.join("killed", "--listen", "127.0.0.2")
        yield self.director.delivered("left", 3)
        yield self.director.delivered("killed", 3)
        before = count(self.folder, "worker-0") + count(self.folder, "left")
        self.dead = killed.die()
        self.join("killed", "--listen", "127.0.0.3")  # the same machine, back after a power cut
        yield self.director.said("killed is gone")
        self.while_one_was_dying = count(self.folder, "worker-0") + count(self.folder, "left") - before
        yield self.director.delivered("killed", 3)
        os.kill(actor("HostActor"), signal.SIGKILL)
        yield self.director.delivered("killed", 5)
        os.kill(left.process.pid, signal.SIGINT)
        yield lambda: left.process.poll() is not None
        yield self.director.delivered("worker-0", 3)
        os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    """One training, three machines; interrupted, resumed at the same address, and played to its end."""
    folder = tmp_path_factory.mktemp("machines")
    token = folder / "token"
    write_token(token)
    config = toy_config(
        folder,
        run={"learner_steps": None, "trajectories": 100_000},
        pacing={"max_reuse": 2.0},
        evaluation={"before": False, "after": False},
        runtime={
            "listen": "127.0.0.1",
            "port": free_port(),
            "token": str(token),
            "object_store_mb": 128,
            "wait_s": 60.0,
        },
    )
    story = Story(config)
    patch = pytest.MonkeyPatch()
    patch.setenv("RAY_health_check_period_ms", "1000")  # a dead machine is noticed after five of these
    patch.setenv("RAY_health_check_initial_delay_ms", "1000")
    try:
        story.director.play(story.first_act())
        story.codes.append(launch(config, builder=JournalBuilder, progress=story.director))
        with RunStore.read(config.run_folder) as store:
            goal = store.counts().trajectories + 40
        run = config.run.model_copy(update={"trajectories": goal})
        again = config.model_copy(update={"run": run})
        story.director.play(iter([story.director.delivered("killed", 3)]))
        story.codes.append(launch(again, builder=SlowHereBuilder, progress=story.director, resume=config.run_folder))
        for machine in story.machines:
            machine.process.wait(timeout=300)
        yield story
    finally:
        patch.undo()
        for machine in story.machines:
            if machine.process.poll() is None:
                machine.die()


def test_the_training_went_its_way(story: Story) -> None:
    assert story.codes == [130, 0]
    assert story.director.finished


def test_nothing_was_lost_and_nothing_doubled(story: Story) -> None:
    with RunStore.read(story.folder) as store:
        stored = store.ids() + store.ids(outcome="invalid")
        assert store.counts().invalid == 0
    produced = journal(story.folder, "produced")
    assert len(produced) == len(set(produced))
    assert len(stored) == len(set(stored))
    assert set(produced) <= set(stored) <= set(journal(story.folder, "intended"))
    assert list((story.folder / "spool").rglob("*.msgpack")) == []


def test_everybody_played(story: Story) -> None:
    with RunStore.read(story.folder) as store:
        assert {trajectory.worker for trajectory in store.trajectories()} == {"worker-0", "left", "killed"}


def test_the_others_never_paused_while_a_machine_was_dying(story: Story) -> None:
    assert story.while_one_was_dying >= 5


def test_whoever_leaves_is_let_go_and_ends_well(story: Story) -> None:
    left = story.machines[0]
    assert left.process.returncode == 0, left.output
    assert "left is playing: 2 devices" in left.output
    assert "left is left" in left.output
    assert any("left has left" in text for text in story.director.messages)


def test_a_dead_machine_leaves_no_process_and_comes_back_under_its_name(story: Story) -> None:
    assert not any(alive(pid) for pid in story.dead)
    back = story.machines[2]
    assert "killed is playing: 2 devices" in back.output


def test_a_machine_waits_for_a_training_that_went_away_and_ends_with_it(story: Story) -> None:
    back = story.machines[2]
    assert "The training is gone" in back.output
    assert back.output.count("killed is playing: 2 devices") >= 2
    assert "the training is over" in back.output
    assert back.process.returncode == 0


def test_the_join_command_was_told(story: Story) -> None:
    listen, port = story.config.runtime.listen, story.config.runtime.port
    told = f"distrl worker --address {listen}:{port} --token {story.config.runtime.token}"
    assert any(told in text for text in story.director.messages)
    assert not (story.folder / "join.txt").exists()
