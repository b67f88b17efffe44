"""kill -9 at any moment: produced − inserted − invalid = 0, no duplicates, versions go up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from processes import actor, alive, descendants
from toy import JournalBuilder, journal, toy_config

from distrl.learner import checkpoint
from distrl.runtime import launch
from distrl.store.run import RunStore


class Killer:
    """Kills one process after another, each once so many trajectories are in; and the learner after its last step."""

    def __init__(self, plan: Mapping[int, str], last_step: int) -> None:
        self.plan = dict(plan)
        self.last_step = last_step
        self.killed: list[str] = []
        self.messages: list[str] = []

    def update(self, stats: Mapping[str, Any]) -> None:
        if stats["phase"] == "evaluate before" and not self.killed:
            os.kill(actor("WorkerActor"), signal.SIGKILL)
            self.killed.append("WorkerActor")
        due = [count for count in self.plan if stats.get("trajectories", 0) >= count]
        names = [self.plan.pop(count) for count in due]
        if stats.get("learner_steps", 0) >= self.last_step and not self.plan:
            self.last_step = sys.maxsize
            names.append("LearnerActor")
        for name in names:
            os.kill(actor(name), signal.SIGKILL)
            self.killed.append(name)

    def message(self, text: str) -> None:
        self.messages.append(text)


def assert_nothing_lost_and_nothing_doubled(folder: Path) -> None:
    with RunStore.read(folder) as store:
        stored = store.ids() + store.ids(outcome="invalid")
        counts = store.counts()
        versions = store.metrics("version").value
        table = store.table("version_at_insert", "policy_version")
    produced = journal(folder, "produced")
    assert len(produced) == len(set(produced))
    assert len(stored) == len(set(stored)) == counts.trajectories + counts.invalid
    # A worker may die between keeping a trajectory and writing so: it is then intended, stored, and not in `produced`.
    assert set(produced) <= set(stored) <= set(journal(folder, "intended"))
    assert list((folder / "spool").rglob("*.msgpack")) == []
    assert (versions[1:] > versions[:-1]).all()
    assert (table["version_at_insert"] >= table["policy_version"]).all()


def test_a_run_outlives_its_worker_its_host_and_its_learner(tmp_path: Path) -> None:
    config = toy_config(
        tmp_path,
        run={"learner_steps": 60},
        learner={"checkpoint_every_s": 1.0},
        evaluation={"episodes": 40, "after": False},
        pacing={"max_reuse": 2.0},
    )
    killer = Killer({20: "WorkerActor", 50: "HostActor", 80: "LearnerActor"}, last_step=60)
    assert launch(config, builder=JournalBuilder, progress=killer) == 0
    assert killer.killed == ["WorkerActor", "WorkerActor", "HostActor", "LearnerActor", "LearnerActor"]
    assert_nothing_lost_and_nothing_doubled(config.run_folder)
    assert checkpoint.latest(config.run_folder / "checkpoints") is not None
    with RunStore.read(config.run_folder) as store:
        assert store.counts().trajectories >= 80
        assert store.metrics("host/trajectories").step.max() == 60
        assert store.metrics("version").step[-1] >= 59  # the last one may be killed before it is published
        kinds = [event.kind for event in store.events()]
        assert [(entry.name, entry.episodes) for entry in store.evaluations()] == [("before", 40)]
    assert kinds.count("host_started") == 2
    assert kinds.count("worker_joined") == 2
    assert sum("worker-0 died" in text for text in killer.messages) == 2
    assert sum("learner died" in text for text in killer.messages) == 2


DRIVER = """
import sys
from pathlib import Path
from toy import JournalBuilder, toy_config
from distrl.runtime import launch
config = toy_config(Path(sys.argv[1]), run={"trajectories": 100000, "learner_steps": None},
                    learner={"checkpoint_every_s": 1.0}, evaluation={"before": False, "after": False})
launch(config, builder=JournalBuilder)
"""


def test_a_run_whose_driver_was_killed_leaves_no_process_and_resumes_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "toy"
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path)])
    try:
        wait_until(lambda: checkpoint.latest(folder / "checkpoints") is not None, driver)
        ours = [pid for pid, title in descendants(driver.pid).items() if "Actor" in title]
    finally:
        driver.kill()
        driver.wait()
    assert len(ours) == 3
    wait_until(lambda: not any(alive(pid) for pid in ours))
    with RunStore.read(folder) as store:
        before = store.counts().trajectories
        steps = store.metrics("version").step[-1]
    config = toy_config(
        tmp_path,
        run={"trajectories": before + 30, "learner_steps": None},
        evaluation={"before": False, "after": False},
    )
    assert launch(config, builder=JournalBuilder, resume=folder) == 0
    assert_nothing_lost_and_nothing_doubled(folder)
    with RunStore.read(folder) as store:
        assert store.counts().trajectories >= before + 30
        assert store.metrics("version").step[-1] >= min(steps, 1)


def wait_until(condition: Any, process: subprocess.Popen[bytes] | None = None, deadline_s: float = 90.0) -> None:
    end = time.monotonic() + deadline_s
    while not condition():
        assert process is None or process.poll() is None, "the driver ended by itself"
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.2)
