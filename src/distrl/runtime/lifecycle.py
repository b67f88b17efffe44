"""A run from beginning to end: evaluate, train, evaluate again, say what changed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol

from distrl.config import Config
from distrl.errors import RunNotFound
from distrl.evaluation.evaluate import compare, evaluate
from distrl.runtime.interrupt import Interrupt
from distrl.runtime.progress import Progress
from distrl.runtime.topology import Parts
from distrl.store.files import write_whole
from distrl.store.provenance import describe
from distrl.store.run import RunStore
from distrl.types import Tree

INTERRUPTED = 130
BEFORE, AFTER = "before", "after"


class Engine(Protocol):
    """A runtime, with a run open in it."""

    def evaluated(self) -> list[str]:
        """Names of the evaluations that are in the store."""

    def evaluate(self, name: str) -> None:
        """Play the held-out tasks with the learner's present weights and store the result. An interrupt ends it early,
        and then nothing is stored."""

    def train(self) -> None:
        """Until a limit is reached or an interrupt is requested; writes a checkpoint at the end."""

    def close(self) -> None: ...


StartEngine = Callable[[Parts, Progress, Interrupt], Engine]


def run(parts: Parts, start: StartEngine, progress: Progress, *, resume: bool) -> int:
    """Exit status of a whole run: 0, or 130 after an interrupt."""
    config = parts.config
    open_folder(config, resume=resume)
    with Interrupt() as interrupt:
        engine = start(parts, progress, interrupt)
        try:
            _phases(engine, config, interrupt)
        finally:
            engine.close()
        if interrupt.requested:
            progress.message(f"Stopped. Go on with `distrl train --resume {config.run_folder}`.")
            return INTERRUPTED
    conclude(config.run_folder, progress)
    return 0


def open_folder(config: Config, *, resume: bool) -> None:
    """Make the run folder, or make sure that it is there. Raises `RunExists`, `RunNotFound` or `RunBusy`."""
    if resume:
        RunStore.open(config.run_folder).close()
        return
    meta = describe(seed=config.run.seed, command=sys.argv, date=datetime.now().astimezone())
    RunStore.create(config.run_folder, config.model_dump(mode="json"), meta).close()


def _phases(engine: Engine, config: Config, interrupt: Interrupt) -> None:
    if config.evaluation.before and BEFORE not in engine.evaluated():
        engine.evaluate(BEFORE)
    if not interrupt.requested:
        engine.train()
    if config.evaluation.after and not interrupt.requested:
        engine.evaluate(AFTER)


def conclude(folder: Path, progress: Progress) -> Tree:
    """Write `summary.json` and the report. A report that cannot be drawn does not undo the run."""
    with RunStore.read(folder) as store:
        summary = summarise(store)
    write_whole(folder / "summary.json", json.dumps(summary, indent=2).encode() + b"\n")
    from distrl.evaluation.report import write_report

    write_report(folder)
    return summary


def summarise(store: RunStore) -> Tree:
    counts = store.counts()
    versions, trained = store.metrics("version"), store.metrics("run/trained_s").value
    summary: Tree = {
        "episodes": 0,
        "trajectories": counts.trajectories,
        "invalid": counts.invalid,
        "learner_steps": int(versions.step[-1]) if len(versions.step) else 0,
        "version": int(versions.value[-1]) if len(versions.value) else 0,
        "seconds": float(trained[-1]) if len(trained) else 0.0,
        "report": str(store.folder / "report.html"),
    }
    names = [entry.name for entry in store.evaluations()]
    played = {name: evaluate(store.evaluation_trajectories(name)) for name in (BEFORE, AFTER) if name in names}
    if BEFORE in played and AFTER in played:
        return {**summary, **compare(played[BEFORE], played[AFTER]).summary()}
    for name, evaluation in played.items():
        summary |= {f"success_{name}": evaluation.success, "episodes": evaluation.episodes}
    return summary


def resumed_folder(config: Config, resume: Path) -> Config:
    """The config with the run folder that is to be resumed."""
    if not resume.is_dir():
        raise RunNotFound(f"There is no run folder {resume} to resume. `distrl train` starts a new run.")
    run_config = config.run.model_copy(update={"folder": resume.parent, "name": resume.name})
    return config.model_copy(update={"run": run_config})
