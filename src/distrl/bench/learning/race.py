"""Starts the runs of a plan in parallel processes, each on its own share of the cores."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distrl.bench.learning.job import RaceJob, described
from distrl.bench.learning.plan import RaceEntry, RacePlan, shares
from distrl.bench.learning.record import Record
from distrl.config.former import translated
from distrl.errors import ConfigError
from distrl.policies.models import weights_digest

Say = Callable[[str], None]

POLL_S = 0.5
STAGGER_S = 1.0
"""Delay between two starts: Ray instances that start at the same time race for free ports."""
SPARE_S = 1800.0
"""Time allowed beyond training for start, tests and shutdown, before a run is terminated."""
GRACE_S = 60.0


@dataclass
class RunningJob:
    """A process that we started, and the slot it holds."""

    entry: RaceEntry
    job: RaceJob
    process: subprocess.Popen[bytes]
    slot: int
    log: Path
    deadline: float


def run(plan: RacePlan, parallel: int, say: Say) -> list[Record]:
    """The records of all entries, in their order. Entries with a record that did not fail are not run again.

    Raises `ConfigError` when a record was made with other settings than the plan's.
    """
    for folder in (plan.records, plan.folder / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    waiting = deque(entry for entry in plan.entries() if not finished(plan, entry))
    say(f"{len(waiting)} of {len(list(plan.entries()))} runs to do, {parallel} side by side, in {plan.folder}")
    Race(plan, parallel, say).run(waiting)
    return [Record.read(record_path(plan, entry)) for entry in plan.entries()]


class Race:
    def __init__(self, plan: RacePlan, parallel: int, say: Say) -> None:
        self.plan = plan
        self.say = say
        self.cores = shares(parallel)
        self.running: list[RunningJob] = []

    def run(self, waiting: deque[RaceEntry]) -> None:
        """Until nothing waits and nothing runs. On any error or interrupt, all started processes are terminated."""
        try:
            while waiting or self.running:
                taken = {each.slot for each in self.running}
                free = [slot for slot in range(len(self.cores)) if slot not in taken]
                if waiting and free:
                    self.start(waiting.popleft(), free[0])
                    time.sleep(STAGGER_S)
                else:
                    time.sleep(POLL_S)
                self.poll_processes()
        finally:
            for each in self.running:
                terminate(each.process)

    def start(self, entry: RaceEntry, slot: int) -> None:
        plan = self.plan
        job = RaceJob(entry, plan.runnable(entry), plan.tests(), record_path(plan, entry))
        path, log = (plan.folder / "logs" / f"{entry.name}.{ending}" for ending in ("json", "log"))
        job.write(path)
        job.record.unlink(missing_ok=True)  # from a failed attempt
        process = start(path, log, self.cores[slot])
        deadline = time.monotonic() + 60 * plan.minutes + SPARE_S
        self.running.append(RunningJob(entry, job, process, slot, log, deadline))
        self.say(f"{entry.name}: started on cores {', '.join(map(str, self.cores[slot]))}")

    def poll_processes(self) -> None:
        """Remove ended processes from the list, and terminate those past their deadline."""
        for each in list(self.running):
            code = each.process.poll()
            if code is None and time.monotonic() < each.deadline:
                continue
            self.running.remove(each)
            if code is None:
                terminate(each.process)
            self.say(f"{each.entry.name}: {describe(record_of(each, code))}")


def record_of(each: RunningJob, code: int | None) -> Record:
    """The record of an ended process; if it wrote none, a record of the failure."""
    path = each.job.record
    if path.exists() and (record := Record.read(path)).config == each.job.config.model_dump(mode="json"):
        return record
    ended = "took too long and was ended" if code is None else f"ended with status {code}"
    record = described(each.job, failed=f"{ended}; last log line: {last_log_line(each.log)} (all in {each.log})")
    record.write(path)
    return record


def describe(record: Record) -> str:
    if record.failed:
        return f"failed: {record.failed}"
    tests = ", ".join(f"{name} {_rate(test.outcomes)}" for name, test in record.tests.items())
    return f"{len(record.episodes)} trajectories, {record.learner_steps} learner steps, {tests}"


def start(job: Path, log: Path, cores: list[int]) -> subprocess.Popen[bytes]:
    """Start a job's process, in a session of its own so that it and all its children can be terminated together."""
    command = [sys.executable, "-m", "distrl.bench.learning.job", str(job), str(os.getpid())]
    environment = {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1", **os.environ}
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
    if hasattr(os, "sched_setaffinity"):
        with suppress(OSError):  # it ended at once; see its log
            # Inherited by its children; it has none yet.
            os.sched_setaffinity(process.pid, cores)
    return process


def terminate(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, wait, then SIGKILL to its whole session, in which everything was started by us."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finished(plan: RacePlan, entry: RaceEntry) -> bool:
    """Whether there is a record of this entry that need not be made again. Raises `ConfigError` if it was made with
    other settings or weights."""
    path = record_path(plan, entry)
    if not path.exists() or (record := Record.read(path)).failed:
        return False
    config = plan.config(entry)
    differences = differing(translated(record.config), config.model_dump(mode="json"))
    if record.weights and record.weights != weights_digest(config.policy.model):
        differences.append(f"policy.model {config.policy.model!r} had other weights")
    if differences:
        raise ConfigError(
            f"{path} was made with other settings: {'; '.join(differences)}. "
            "Ask for the same settings again to go on, or name another --folder for these."
        )
    return True


def differing(made: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Settings that both configs have with different values, except folder and name of the run."""
    found = []
    for section in made.keys() & wanted.keys():
        for key in made[section].keys() & wanted[section].keys():
            same = made[section][key] == wanted[section][key] or (section == "run" and key in ("folder", "name"))
            if not same:
                found.append(f"{section}.{key} was {made[section][key]!r}, is {wanted[section][key]!r}")
    return sorted(found)


def record_path(plan: RacePlan, entry: RaceEntry) -> Path:
    return plan.records / f"{entry.name}.json"


def last_log_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1] if lines else "none"


def _rate(outcomes: str) -> str:
    played = outcomes.count("1") + outcomes.count("0")
    return f"{100 * outcomes.count('1') / played:.0f} %" if played else "nothing valid"
