"""The whole graph as Ray actors, in the toy world: one run, looked at from all sides."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import ray
from processes import descendants, free_port
from toy import JournalBuilder, journal, toy_config

from distrl.learner import checkpoint
from distrl.runtime import launch
from distrl.runtime.ray.cluster import sweep
from distrl.runtime.ray.environment import PREFIX
from distrl.store.run import RunStore

INTRUDER = """
import sys
from ray._raylet import GcsClient
print(GcsClient(address=sys.argv[1]).internal_kv_keys(b"", b"session"))
"""


def intrude(address: str) -> str:
    """What a process without the token hears when it talks to our Ray."""
    strangers = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
    command = [sys.executable, "-c", INTRUDER, address]
    return subprocess.run(
        command, env={**strangers, "RAY_AUTH_MODE": "disabled"}, capture_output=True, text=True, timeout=60
    ).stderr


class Witness:
    """Notes what can only be seen while a run is going on; then interrupts it once."""

    def __init__(self) -> None:
        self.phases: list[str] = []
        self.messages: list[str] = []
        self.token_mode: int | None = None
        self.open_ports: set[str] = set()
        self.intruder_heard = ""
        self.niceness: dict[str, int] = {}
        self.port = free_port()
        self.address = ""

    def update(self, stats: Mapping[str, Any]) -> None:
        phase = str(stats["phase"])
        if phase not in self.phases:
            self.phases.append(phase)
        if phase == "train" and self.token_mode is None:
            self.token_mode = stat.S_IMODE(Path(os.environ["RAY_AUTH_TOKEN_PATH"]).stat().st_mode)
            self.niceness = {title: os.getpriority(os.PRIO_PROCESS, pid) for pid, title in actors().items()}
            self.open_ports = listening(set(descendants(os.getpid())) | {os.getpid()})
            self.address = ray.get_runtime_context().gcs_address
            self.intruder_heard = intrude(self.address)
        if stats.get("learner_steps", 0) >= 5 and not self.messages:
            os.kill(os.getpid(), signal.SIGINT)

    def message(self, text: str) -> None:
        self.messages.append(text)


def actors() -> dict[int, str]:
    """Pid → name and pid of every process of the run that is not Ray's own."""
    found = descendants(os.getpid()).items()
    return {pid: f"{title} {pid}" for pid, title in found if "Actor" in title and title.startswith("ray::")}


def listening(pids: set[int]) -> set[str]:
    """Addresses on which these processes listen for TCP, as the kernel writes them."""
    sockets = {link for pid in pids for link in _links(pid)}
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in sockets:
                found.add(cells[1].split(":")[0])
    return found


def _links(pid: int) -> Iterator[str]:
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            yield os.readlink(link)
        except OSError:
            continue


LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Witness, list[int]]:
    """A run that is interrupted after five learner steps and then resumed to its end."""
    config = toy_config(
        tmp_path_factory.mktemp("ray"),
        run={"learner_steps": 25},
        workers={"count": 2},
        pacing={"max_reuse": 4.0},
        learner={"canary_trajectories": 1},
    )
    witness = Witness()
    there = config.model_copy(update={"runtime": config.runtime.model_copy(update={"port": witness.port})})
    codes = [
        launch(there, builder=JournalBuilder, progress=witness),
        launch(config, builder=JournalBuilder, progress=witness, resume=config.run_folder),
    ]
    return config.run_folder, witness, codes


def test_ctrl_c_ends_with_130_and_the_resumed_run_with_0(run: tuple[Path, Witness, list[int]]) -> None:
    folder, witness, codes = run
    assert codes == [130, 0]
    assert any(f"--resume {folder}" in text for text in witness.messages)


def test_phases_follow_each_other_and_before_is_not_played_twice(run: tuple[Path, Witness, list[int]]) -> None:
    assert run[1].phases == ["evaluate before", "train", "evaluate after"]
    with RunStore.read(run[0]) as store:
        assert [(entry.name, entry.episodes) for entry in store.evaluations()] == [("before", 8), ("after", 8)]


def test_every_trajectory_that_was_spooled_was_inserted_once(run: tuple[Path, Witness, list[int]]) -> None:
    with RunStore.read(run[0]) as store:
        assert sorted(store.ids()) == sorted(journal(run[0], "produced"))
        assert store.counts().invalid == 0
        assert {t.worker for t in store.trajectories()} == {"worker-0", "worker-1"}
    assert list((run[0] / "spool").rglob("*.msgpack")) == []


def test_versions_go_up_over_the_interruption(run: tuple[Path, Witness, list[int]]) -> None:
    with RunStore.read(run[0]) as store:
        versions = store.metrics("version")
    assert (versions.value[1:] > versions.value[:-1]).all()
    assert versions.step[-1] == 25


def test_the_learner_adopts_what_workers_saw(run: tuple[Path, Witness, list[int]]) -> None:
    """Not how much of it: a host that is slow to answer gets the trajectory without its features, and a toy's phone has
    few screens."""
    with RunStore.read(run[0]) as store:
        assert store.metrics("screens/adopted").value.sum() > 0


def test_summary_report_and_checkpoint_are_there(run: tuple[Path, Witness, list[int]]) -> None:
    summary = json.loads((run[0] / "summary.json").read_text())
    assert {"success_before", "success_after", "difference_ci95", "episodes", "seconds", "trajectories"} <= set(summary)
    assert summary["learner_steps"] == 25
    assert Path(summary["report"]).is_file()
    assert checkpoint.latest(run[0] / "checkpoints") is not None


def test_ray_listened_on_loopback_only_with_a_private_token(run: tuple[Path, Witness, list[int]]) -> None:
    assert run[1].token_mode == 0o600
    assert run[1].open_ports
    assert run[1].open_ports <= LOOPBACK


def test_ray_listens_at_the_port_it_was_given(run: tuple[Path, Witness, list[int]]) -> None:
    assert run[1].address == f"127.0.0.1:{run[1].port}"


def test_a_stranger_without_the_token_is_refused(run: tuple[Path, Witness, list[int]]) -> None:
    assert "AuthenticationError" in run[1].intruder_heard


def test_a_run_s_processes_are_as_nice_as_whoever_started_them(run: tuple[Path, Witness, list[int]]) -> None:
    """Says nothing at niceness 19, where Ray's own habit of adding 15 would not show."""
    assert len(run[1].niceness) == 4
    assert set(run[1].niceness.values()) == {os.getpriority(os.PRIO_PROCESS, 0)}, run[1].niceness


def test_nothing_of_ray_is_left_behind(run: tuple[Path, Witness, list[int]]) -> None:
    assert not Path(os.environ["RAY_AUTH_TOKEN_PATH"]).exists()
    assert not (run[0] / ".ray").exists()
    assert [title for title in descendants(os.getpid()).values() if "raylet" in title or "gcs_server" in title] == []


def test_sweeping_removes_only_a_folder_of_ours(tmp_path: Path) -> None:
    ours = Path(tempfile.mkdtemp(prefix=PREFIX))
    precious = tmp_path / "precious"
    precious.mkdir()
    trace = tmp_path / ".ray"
    trace.write_text(str(ours))
    sweep(trace)
    assert not ours.exists()
    trace.write_text(str(precious))
    sweep(trace)
    assert precious.is_dir()
