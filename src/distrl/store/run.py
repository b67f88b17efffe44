"""The run folder: settings, trajectories, metrics, events and evaluations of one run.

    config.yaml  meta.json  tasks/  run.sqlite  blobs/ab/<sha256>.jpg  checkpoints/  tb/  report.html

One process writes (`create`, `open`), any number read (`read`). A trajectory's screenshots are on disk before the
transaction that names them, so readers see complete trajectories only; a crash in between leaves unreferenced
blobs, which the next delivery reuses.
"""

from __future__ import annotations

import json
import math
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import yaml

from distrl.devices.base import Health
from distrl.errors import CorruptData, RunExists
from distrl.store import codec
from distrl.store.blobs import Blobs
from distrl.store.database import Database
from distrl.store.files import room_needed
from distrl.store.folder import DATABASE, existing, write_initial_files, writer_lock
from distrl.store.records import (
    as_bytes,
    clean,
    count_device,
    health_of,
    insert_screens,
    insert_trajectory,
    keep_health,
    record_of,
    screens_of,
    summary,
)
from distrl.store.tensorboard import Tensorboard
from distrl.types import Floats, Screen, Trajectory, Tree


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of training trajectories; evaluation episodes are not included."""

    trajectories: int
    """Inserted: successes and failures."""
    successes: int
    invalid: int
    """Declared invalid: the device, the judge or the clock failed, not the agent."""
    steps: int
    """Of the inserted ones."""


@dataclass(frozen=True, slots=True)
class Series:
    """One metric over the run, in the order it was written. Every array has shape [N]."""

    step: Floats
    at: Floats
    value: Floats


@dataclass(frozen=True, slots=True)
class Event:
    at: float
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class EvaluationEntry:
    """One evaluation of the run; its episodes come from `evaluation_trajectories`."""

    name: str
    step: int
    at: float
    episodes: int


@dataclass(frozen=True, slots=True)
class DeviceEntry:
    """One device of the run: its episode counts, and its newest health record if there is one."""

    worker: str
    device: str
    episodes: int
    invalid: int
    last_seen_at: float
    """The end of its last episode, or the time of its last health record."""
    health: Health | None


class RunStore:
    """A run folder, open. Use `create`, `open` or `read`, and close it or use it in a `with` block."""

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self.folder = folder
        self.blobs = Blobs(folder / "blobs")
        self._lock = writer_lock(folder) if writable else None
        self._tensorboard = Tensorboard(folder / "tb")
        self._database = Database(folder / DATABASE, writable=writable)

    # -- opening and closing

    @classmethod
    def create(cls, folder: Path, config: Tree, meta: Tree, tasks: Mapping[str, bytes] | None = None) -> RunStore:
        """A new run, open for writing, with the task files it keeps. Raises `RunExists` when the folder is there and
        holds anything."""
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise RunExists(
                f"The run folder {folder} exists already, and nothing in it was touched. Resume it with "
                f"`distrl train --resume {folder}`, or choose another name with run.name=…"
            )
        partial = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")
        with room_needed(folder):
            try:
                write_initial_files(partial, config, meta, tasks or {})
                partial.rename(folder)  # atomic: a run killed while it was created does not exist
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
        return cls(folder, writable=True)

    @classmethod
    def open(cls, folder: Path) -> RunStore:
        """An existing run, for writing. Raises `RunNotFound`, or `RunBusy` while another process writes to it."""
        return cls(existing(folder), writable=True)

    @classmethod
    def read(cls, folder: Path) -> RunStore:
        """An existing run, for reading only, also while it is being written. Raises `RunNotFound`."""
        return cls(existing(folder), writable=False)

    def close(self) -> None:
        self._tensorboard.close()
        self._database.close()
        if self._lock is not None:
            self._lock.close()

    def __enter__(self) -> RunStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- writing

    def add_trajectory(self, trajectory: Trajectory, version_at_insert: int) -> bool:
        """Insert a trajectory that the judge has judged; False when its id is there already.

        Raises `StorageFull`; then nothing of it is visible and it may be delivered again.
        """
        if trajectory.outcome.kind == "invalid":
            raise ValueError("An invalid trajectory is declared with declare_invalid, not inserted.")
        self.keep_images(trajectory)
        return self.add_all([trajectory], version_at_insert)[0]

    def declare_invalid(self, trajectory: Trajectory, version_at_insert: int = 0) -> bool:
        """Store a trajectory whose outcome is invalid, for counting only; False when its id is there already."""
        if trajectory.outcome.kind != "invalid":
            raise ValueError(f"An outcome of {trajectory.outcome.kind!r} is inserted with add_trajectory.")
        self.keep_images(trajectory)
        return self.add_all([trajectory], version_at_insert)[0]

    def add_all(self, trajectories: Sequence[Trajectory], version_at_insert: int) -> list[bool]:
        """Insert the judged ones and declare the others invalid in a single transaction, so with one fsync. False for
        an id that is there already. Their images must be stored before.

        Raises `StorageFull`; then nothing of any of them is visible.
        """
        known, added = set[str](), []
        with self._database.transaction() as db:
            for trajectory in trajectories:
                new = trajectory.id not in known and not self.has(trajectory.id)
                known.add(trajectory.id)
                added.append(new)
                if new:
                    insert_screens(db, trajectory)
                    insert_trajectory(db, trajectory, version_at_insert)
                    count_device(db, trajectory)
        return added

    def keep_images(self, trajectory: Trajectory) -> None:
        """Put every image on disk. Raises `StorageFull`, or `CorruptData` for a reference whose image is not here."""
        for screen in screens_of(trajectory):
            if screen.image:
                self.blobs.put(screen.image)
            elif not self.blobs.has(screen.digest):
                raise CorruptData(f"Trajectory {trajectory.id!r} names the screen {screen.digest} without its image.")

    def add_metrics(self, step: int, values: Mapping[str, float], at: float) -> None:
        with self._database.transaction() as db:
            rows = [(name, step, at, float(value)) for name, value in values.items()]
            db.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?)", rows)
        self._tensorboard.add(step, values, at)

    def add_event(self, kind: str, detail: str, at: float) -> None:
        with self._database.transaction() as db:
            db.execute("INSERT INTO events (at, kind, detail) VALUES (?, ?, ?)", (at, clean(kind), clean(detail)))

    def keep_health(self, worker: str, health: Health, at: float) -> None:
        """Store the newest health record of a slot's device."""
        with self._database.transaction() as db:
            keep_health(db, worker, health, at)

    def add_evaluation(self, name: str, step: int, trajectories: Sequence[Trajectory], at: float) -> None:
        """Store the episodes of an evaluation. They are never learned from. One of the same name is replaced."""
        for trajectory in trajectories:
            self.keep_images(trajectory)
        with self._database.transaction() as db:
            db.execute("DELETE FROM evaluations WHERE name = ?", (name,))
            db.execute("INSERT INTO evaluations (name, step, at) VALUES (?, ?, ?)", (name, step, at))
            for position, trajectory in enumerate(trajectories):
                insert_screens(db, trajectory)
                row = (name, position, *summary(trajectory), record_of(trajectory))
                db.execute("INSERT INTO evaluation_episodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    # -- reading

    @property
    def config(self) -> Tree:
        tree: Tree = yaml.safe_load((self.folder / "config.yaml").read_text()) or {}
        return tree

    @property
    def meta(self) -> Tree:
        tree: Tree = json.loads((self.folder / "meta.json").read_text())
        return tree

    def counts(self) -> Counts:
        rows = dict(self._outcome_counts())
        successes, failures = rows.get("success", (0, 0)), rows.get("failure", (0, 0))
        return Counts(
            trajectories=successes[0] + failures[0],
            successes=successes[0],
            invalid=rows.get("invalid", (0, 0))[0],
            steps=successes[1] + failures[1],
        )

    def has(self, id: str) -> bool:
        """Whether a trajectory with this id was inserted or declared invalid."""
        return bool(self._database.rows("SELECT 1 FROM trajectories WHERE id = ?", id))

    def ids(self, *, newest: int | None = None, outcome: str | None = None) -> list[str]:
        """Ids of inserted trajectories in the order of insertion: all, or the last `newest`."""
        query = "SELECT id FROM trajectories WHERE outcome = coalesce(?, outcome) AND outcome <> 'invalid'"
        if outcome == "invalid":
            query = "SELECT id FROM trajectories WHERE outcome = ?"
        rows = self._database.rows(f"{query} ORDER BY sequence DESC LIMIT ?", outcome, -1 if newest is None else newest)
        return [str(id_) for (id_,) in reversed(rows)]

    def trajectories(
        self, *, ids: Iterable[str] | None = None, newest: int | None = None, outcome: str | None = None
    ) -> Iterator[Trajectory]:
        """Inserted trajectories in the order of insertion, or those of `ids` in the order given.

        Their screens are references. Raises `KeyError` for an id that is not there.
        """
        for id_ in self.ids(newest=newest, outcome=outcome) if ids is None else ids:
            rows = self._database.rows("SELECT record FROM trajectories WHERE id = ?", id_)
            if not rows:
                raise KeyError(id_)
            yield codec.decode(as_bytes(rows[0][0]))

    def table(self, *columns: str) -> dict[str, np.ndarray[Any, Any]]:
        """Columns of the inserted trajectories, one array each, in the order of insertion."""
        known = {str(row[1]) for row in self._database.rows("PRAGMA table_info(trajectories)")} - {"record"}
        if unknown := set(columns) - known:
            raise KeyError(f"No such column: {', '.join(sorted(unknown))}")
        rows = self._database.rows(
            f"SELECT {', '.join(columns)} FROM trajectories WHERE outcome <> 'invalid' ORDER BY sequence"
        )
        return {name: np.array([row[place] for row in rows]) for place, name in enumerate(columns)}

    def screen(self, digest: str) -> Screen:
        """A screen with its image. Raises `CorruptData` when the image is missing or was damaged."""
        rows = self._database.rows("SELECT width, height, foreground FROM screens WHERE digest = ?", digest)
        if not rows:
            raise CorruptData(f"No trajectory of this run shows a screen {digest[:80]!r}.")
        width, height, foreground = rows[0]
        return Screen(self.blobs.get(digest), int(str(width)), int(str(height)), (), str(foreground), digest)

    def metric_names(self) -> list[str]:
        return [str(name) for (name,) in self._database.rows("SELECT DISTINCT name FROM metrics ORDER BY name")]

    def metrics(self, name: str) -> Series:
        """A metric over the run; empty when there is none of this name."""
        rows = self._database.rows("SELECT step, at, value FROM metrics WHERE name = ? ORDER BY rowid", name)
        # sqlite stores NaN as NULL.
        columns = np.array([[math.nan if cell is None else cell for cell in row] for row in rows], dtype=float)
        return Series(*columns.reshape(-1, 3).T)

    def events(self) -> list[Event]:
        rows = self._database.rows("SELECT at, kind, detail FROM events ORDER BY sequence")
        return [Event(float(str(at)), str(kind), str(detail)) for at, kind, detail in rows]

    def devices(self) -> list[DeviceEntry]:
        """Every device that played or has a health record, by worker and name."""
        entries = {}
        if self._database.has_table("health"):
            for worker, at, record in self._database.rows("SELECT worker, at, record FROM health"):
                health = health_of(record)
                entries[str(worker), health.device] = DeviceEntry(
                    str(worker), health.device, 0, 0, float(str(at)), health
                )
        rows = self._database.rows("SELECT worker, address, episodes, invalid, last_seen_at FROM devices")
        for worker, address, episodes, invalid, seen_at in rows:
            known = entries.get((str(worker), str(address)))
            entries[str(worker), str(address)] = DeviceEntry(
                str(worker),
                str(address),
                int(str(episodes)),
                int(str(invalid)),
                max(float(str(seen_at)), known.last_seen_at if known else 0.0),
                known.health if known else None,
            )
        return [entries[key] for key in sorted(entries)]

    def evaluations(self) -> list[EvaluationEntry]:
        rows = self._database.rows(
            "SELECT name, step, at, (SELECT count(*) FROM evaluation_episodes WHERE evaluation = name) "
            "FROM evaluations ORDER BY sequence"
        )
        return [EvaluationEntry(str(row[0]), int(str(row[1])), float(str(row[2])), int(str(row[3]))) for row in rows]

    def evaluation_trajectories(self, name: str) -> Iterator[Trajectory]:
        """The episodes of an evaluation, in order, screens as references. Empty if there is none of this name."""
        query = "SELECT record FROM evaluation_episodes WHERE evaluation = ? ORDER BY position"
        for (record,) in self._database.rows(query, name):
            yield codec.decode(as_bytes(record))

    def find(self, prefix: str) -> list[Trajectory]:
        """All trajectories whose id begins so: inserted, invalid, or played by an evaluation."""
        rows = self._database.rows(
            "SELECT record FROM trajectories WHERE substr(id, 1, length(?1)) = ?1 "
            "UNION SELECT record FROM evaluation_episodes WHERE substr(id, 1, length(?1)) = ?1",
            prefix,
        )
        return [codec.decode(as_bytes(record)) for (record,) in rows]

    # -- inside

    def _outcome_counts(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for outcome, count, steps in self._database.rows(
            "SELECT outcome, count(*), sum(steps) FROM trajectories GROUP BY outcome"
        ):
            yield str(outcome), (int(str(count)), int(str(steps)))
