"""The run folder on disk: creating, finding and locking it for its one writer."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

import yaml

from distrl.errors import RunBusy, RunNotFound
from distrl.store.database import Database
from distrl.store.files import write_whole
from distrl.types import Tree

DATABASE = "run.sqlite"


TASKS = "tasks"
"""Folder of the task file that the run was started with."""


def write_initial_files(folder: Path, config: Tree, meta: Tree, tasks: Mapping[str, bytes]) -> None:
    (folder / "blobs").mkdir(parents=True)
    (folder / "checkpoints").mkdir()
    keep_tasks(folder, tasks)
    write_whole(folder / "config.yaml", yaml.safe_dump(config, sort_keys=False, allow_unicode=True).encode())
    write_whole(folder / "meta.json", json.dumps(meta, indent=2).encode() + b"\n")
    Database.create(folder / DATABASE)


def keep_tasks(folder: Path, tasks: Mapping[str, bytes]) -> None:
    """Write task files, by name."""
    for name, data in tasks.items():
        (folder / TASKS).mkdir(exist_ok=True)
        write_whole(folder / TASKS / Path(name).name, data)


def existing(folder: Path) -> Path:
    if not (folder / DATABASE).is_file():
        raise RunNotFound(f"{folder} is no run folder: there is no {DATABASE} in it. Runs are made by `distrl train`.")
    return folder


def writer_lock(folder: Path) -> TextIO:
    """An exclusive file lock; the operating system releases it when the process ends, also after a crash."""
    file = (folder / ".writer").open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise RunBusy(
            f"Another process is writing to {folder}. Wait for it to end, or stop it, and try again."
        ) from error
    return file
