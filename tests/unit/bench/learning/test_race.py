"""Starting, ending and going on, with processes that do nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from distrl.bench.learning import race
from distrl.bench.learning.plan import WARM_START, RaceEntry
from distrl.bench.learning.record import Record
from distrl.errors import ConfigError
from distrl.policies.models import weights_digest

WRITES_ITS_RECORD = """
import sys
from pathlib import Path
from distrl.bench.learning.job import RaceJob, described
job = RaceJob.read(Path(sys.argv[1]))
described(job, learner_steps=7).write(job.record)
"""


@pytest.fixture
def processes(monkeypatch):
    """What a job's process does, as a script."""
    scripts = {"script": WRITES_ITS_RECORD}
    started: list[subprocess.Popen[bytes]] = []

    def start(job: Path, log: Path, cores: list[int]) -> subprocess.Popen[bytes]:
        with log.open("wb") as output:
            command = [sys.executable, "-c", scripts["script"], str(job)]
            started.append(subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True))
        return started[-1]

    monkeypatch.setattr(race, "start", start)
    monkeypatch.setattr(race, "STAGGER_S", 0.0)
    monkeypatch.setattr(race, "POLL_S", 0.01)
    return scripts, started


@pytest.fixture
def short(plan):
    return replace(plan, methods={"a_ride": 1})


def test_every_entry_writes_a_record_and_is_not_run_again(short, processes):
    _, started = processes
    records = race.run(short, 2, lambda _: None)
    assert [record.method for record in records] == [WARM_START, "a_ride"]
    race.run(short, 2, lambda _: None)
    assert len(started) == 2
    race.run(replace(short, methods={"a_ride": 2}), 2, lambda _: None)
    assert len(started) == 3


def test_a_process_that_dies_is_a_failed_run_with_its_last_log_line_and_is_retried(short, processes):
    scripts, started = processes
    scripts["script"] = "print('out of memory'); raise SystemExit(3)"
    said: list[str] = []
    records = race.run(short, 1, said.append)
    assert all("ended with status 3" in record.failed and "out of memory" in record.failed for record in records)
    assert any("failed" in line for line in said)
    scripts["script"] = WRITES_ITS_RECORD
    assert not any(record.failed for record in race.run(short, 1, said.append))
    assert len(started) == 4


def test_a_run_that_takes_too_long_is_ended(short, processes, monkeypatch):
    scripts, started = processes
    scripts["script"] = "import time; time.sleep(600)"
    monkeypatch.setattr(race, "SPARE_S", 0.2)
    records = race.run(replace(short, minutes=0.001), 2, lambda _: None)
    assert all("took too long" in record.failed for record in records)
    assert all(process.poll() is not None for process in started)


def test_an_interrupted_race_leaves_no_process_running(short, processes):
    scripts, started = processes
    scripts["script"] = "import time; time.sleep(600)"

    def interrupt(text: str) -> None:
        if "started" in text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        race.run(short, 2, interrupt)
    assert started
    assert all(process.poll() is not None for process in started)


def test_a_job_ends_when_its_parent_was_killed():
    job = (
        "import os, time; from distrl.bench.learning.job import end_when_parent_ends;"
        "end_when_parent_ends(os.getppid());"
        "print('up', flush=True); time.sleep(600)"
    )
    starter = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {job!r}])"
    with subprocess.Popen([sys.executable, "-c", starter], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"up\n"
        process.kill()
        # The pipe closes when the last process that holds it has ended.
        assert process.stdout.read() == b""


@pytest.mark.parametrize(("weight", "same"), [(0.25, True), (0.5, False)])
def test_records_from_before_settings_belonged_to_their_algorithm_are_compared_by_what_they_meant(
    short, make_record, weight, same
):
    entry = RaceEntry("a_ride", 0)
    record = make_record(short, entry, 0.5)
    config = record.config
    algorithm = {key: value for key, value in config["algorithm"].items() if not key.startswith("priority_")}
    former = {"failure_priority": weight, "td_error_weight": 1.0, "corrected": algorithm.pop("corrected")}
    config["algorithm"] = {**algorithm, "surrogate_clip": 0.2}
    config["replay"] |= former
    race.record_path(short, entry).parent.mkdir(parents=True)
    record.write(race.record_path(short, entry))
    if same:
        assert race.finished(short, entry)
    else:
        with pytest.raises(ConfigError, match="algorithm.priority_failure_weight was 0.5, is 0.25"):
            race.finished(short, entry)


def test_records_of_other_settings_are_not_mixed_in(short, make_record):
    short.records.mkdir(parents=True)
    entry = RaceEntry("a_ride", 0)
    make_record(short, entry, 0.5).write(race.record_path(short, entry))
    assert race.finished(short, entry)
    with pytest.raises(ConfigError, match="learner.learning_rate was .* another --folder"):
        race.finished(replace(short, changes=("learner.learning_rate=0.5",)), entry)


def test_records_of_other_weights_are_not_mixed_in(short, make_record, monkeypatch):
    """`pocket` may be taught anew, and a folder may be written over; its name stays."""
    short.records.mkdir(parents=True)
    entry = RaceEntry("a_ride", 0)
    record = make_record(short, entry, 0.5)
    replace(record, weights=weights_digest("pocket")).write(race.record_path(short, entry))
    assert race.finished(short, entry)
    monkeypatch.setattr(race, "weights_digest", lambda model: "of other weights")
    with pytest.raises(ConfigError, match="policy.model 'pocket' had other weights.* another --folder"):
        race.finished(short, entry)


def test_what_a_later_version_of_the_settings_added_does_not_matter(short, make_record):
    record = make_record(short, RaceEntry("a_ride", 0), 0.5)
    old = {**record.config, "tasks": {key: value for key, value in record.config["tasks"].items() if key != "lease_s"}}
    assert race.differing(old, record.config) == []


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins no process")
def test_a_process_gets_its_share_of_the_cores(tmp_path, monkeypatch):
    core = min(os.sched_getaffinity(0))
    monkeypatch.setattr(sys, "executable", "/bin/sleep")  # `sleep -m …` complains and ends; it was pinned all the same
    pinned: list[tuple[int, list[int]]] = []
    monkeypatch.setattr(os, "sched_setaffinity", lambda pid, cores: pinned.append((pid, cores)))
    process = race.start(tmp_path / "job.json", tmp_path / "log", [core])
    process.wait()
    assert pinned == [(process.pid, [core])]


def test_the_summary_of_a_record_names_what_failed_or_what_came_out(made_up):
    assert "test-instances" in race.describe(made_up[1])
    assert race.describe(Record("a_ride", 0, {}, failed="no room")) == "failed: no room"
