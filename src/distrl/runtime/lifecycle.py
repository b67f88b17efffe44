"""A run from beginning to end: evaluate, train, evaluate again, say what changed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol

from distrl.config import Config
from distrl.errors import RunNotFound
from distrl.evaluation.report import write_report
from distrl.evaluation.summary import AFTER, BEFORE, write_summary
from distrl.learner import checkpoint
from distrl.runtime.interrupt import Interrupt
from distrl.runtime.progress import Progress
from distrl.runtime.task_files import TaskFile
from distrl.runtime.topology import Builder
from distrl.store.folder import TASKS, keep_tasks
from distrl.store.provenance import describe
from distrl.store.run import RunStore

INTERRUPTED = 130


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


StartEngine = Callable[[Builder, Progress, Interrupt], Engine]


def run(
    builder: Builder, start: StartEngine, progress: Progress, *, resume: bool, tasks: TaskFile | None = None
) -> int:
    """Exit status of a whole run: 0, or 130 after an interrupt. `tasks`: the file that its folder is to keep."""
    config = builder.config
    open_folder(config, progress, resume=resume, tasks=tasks)
    with Interrupt() as interrupt:
        engine = start(builder, progress, interrupt)
        try:
            _phases(engine, config, interrupt)
        finally:
            engine.close()
        if interrupt.requested:
            progress.message(f"Stopped. Go on with `distrl train --resume {config.run_folder}`.")
            return INTERRUPTED
    conclude(config.run_folder)
    return 0


def open_folder(config: Config, progress: Progress, *, resume: bool, tasks: TaskFile | None = None) -> None:
    """Make the run folder, or make sure that it can be gone on with.

    Raises `RunExists`, `RunNotFound`, `RunBusy`, or `CheckpointError` when every checkpoint is damaged.
    """
    if resume:
        RunStore.open(config.run_folder).close()
        keep_tasks(config.run_folder, tasks.files if tasks else {})
        checkpoint.latest(config.run_folder / "checkpoints", progress.message)
        return
    meta = describe(seed=config.run.seed, command=sys.argv, date=datetime.now().astimezone())
    tree = config.model_dump(mode="json")
    if tasks is not None:
        meta["tasks"] = tasks.summary()
        tree["tasks"]["suite"] = f"{TASKS}/{tasks.name}"  # beside the config: also after the folder was moved
    RunStore.create(config.run_folder, tree, meta, tasks.files if tasks else {}).close()


def _phases(engine: Engine, config: Config, interrupt: Interrupt) -> None:
    if config.evaluation.before and BEFORE not in engine.evaluated():
        engine.evaluate(BEFORE)
    if not interrupt.requested:
        engine.train()
    if config.evaluation.after and not interrupt.requested:
        engine.evaluate(AFTER)


def conclude(folder: Path) -> None:
    """Say what came out: `summary.json` first, then the report."""
    write_summary(folder)
    write_report(folder)


def resumed_folder(config: Config, resume: Path) -> Config:
    """The config with the run folder that is to be resumed."""
    if not resume.is_dir():
        raise RunNotFound(f"There is no run folder {resume} to resume. `distrl train` starts a new run.")
    run_config = config.run.model_copy(update={"folder": resume.parent, "name": resume.name})
    return config.model_copy(update={"run": run_config})
