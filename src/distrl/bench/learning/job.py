"""One run in a process of its own: train, evaluate the final policy on the tests, write the record.

Started as `python -m distrl.bench.learning.job JOB.json PARENT`; ends when the process with the id PARENT does. Its
output goes to a log file.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

from distrl.bench.learning.plan import RaceEntry, evaluation_config
from distrl.bench.learning.record import Record, SplitResult, tested, trained
from distrl.cli.progress import LinesProgress
from distrl.config import Config
from distrl.errors import DistrlError
from distrl.loading import build
from distrl.policies.models import weights_digest
from distrl.runtime import evaluate_policy, launch
from distrl.runtime.preflight import newest_model
from distrl.store import provenance

LINE_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class RaceJob:
    entry: RaceEntry
    config: Config
    tests: tuple[str, ...]
    """Of `plan.TESTS`, to be evaluated at the end."""
    record: Path

    def write(self, path: Path) -> None:
        tree = {
            "method": self.entry.method,
            "seed": self.entry.seed,
            "config": self.config.model_dump(mode="json"),
            "tests": list(self.tests),
            "record": str(self.record),
        }
        path.write_text(json.dumps(tree, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> RaceJob:
        tree = json.loads(path.read_text(encoding="utf-8"))
        entry = RaceEntry(tree["method"], tree["seed"])
        return cls(entry, build(Config, tree["config"], str(path)), tuple(tree["tests"]), Path(tree["record"]))


def play(job: RaceJob) -> int:
    """Exit status. A run that ends with a `DistrlError` writes a record with the error, an interrupted one none."""
    progress = LinesProgress(Console(soft_wrap=True), LINE_EVERY_S)
    try:
        if job.entry.trains and (code := launch(job.config, progress=progress)):
            return code
        tests = {test: _test(job, test, progress) for test in job.tests}
        figures = trained(job.config.run_folder) if job.entry.trains else {}
        record = described(job, **figures, tests=tests)
    except DistrlError as error:
        print(f"error: {error}", flush=True)
        record = described(job, failed=str(error))
    record.write(job.record)
    return 1 if record.failed else 0


def described(job: RaceJob, **figures: Any) -> Record:
    made = provenance.describe(seed=job.entry.seed, command=[], date=datetime.now(UTC))
    del made["command"], made["seed"]
    weights = weights_digest(job.config.policy.model)
    return Record(job.entry.method, job.entry.seed, job.config.model_dump(mode="json"), made, weights, **figures)


def _test(job: RaceJob, test: str, progress: LinesProgress) -> SplitResult:
    model = job.config.policy.model
    if job.entry.trains:
        model = str(newest_model(job.config.run_folder, progress.message))
    return tested(evaluate_policy(evaluation_config(job.config, test, model), progress=progress))


def end_when_parent_ends(parent: int, grace_s: float = 60.0) -> None:
    """End this process when its parent is gone, for example killed: an orphan would run on unattended."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        signal.raise_signal(signal.SIGTERM)
        time.sleep(grace_s)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


if __name__ == "__main__":
    end_when_parent_ends(parent=int(sys.argv[2]))
    sys.exit(play(RaceJob.read(Path(sys.argv[1]))))
