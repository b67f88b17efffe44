"""The run's database: `run.sqlite`, one writer and any number of readers (WAL).

A trajectory's `record` (codec bytes without images) is authoritative; the columns beside it and the rows of `steps`
exist for queries and charts. Everything about one trajectory is written in one transaction.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from distrl.errors import CorruptData
from distrl.store.files import storage_full

VERSION = 1
NEARLY_FULL_BYTES = 1 << 20

SCHEMA = """
CREATE TABLE trajectories (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    template TEXT NOT NULL,
    goal TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'invalid')),
    reason TEXT NOT NULL,
    steps INTEGER NOT NULL,
    invalid_actions INTEGER NOT NULL,
    policy_version INTEGER NOT NULL,
    version_at_insert INTEGER NOT NULL,
    entropy REAL,
    worker TEXT NOT NULL,
    device TEXT NOT NULL,
    started_at REAL NOT NULL,
    duration_s REAL NOT NULL,
    record BLOB NOT NULL
);
CREATE INDEX trajectories_by_outcome ON trajectories (outcome, sequence);
CREATE TABLE steps (
    trajectory TEXT NOT NULL REFERENCES trajectories (id),
    position INTEGER NOT NULL,
    screen TEXT NOT NULL REFERENCES screens (digest),
    action TEXT NOT NULL,
    logprob REAL,
    entropy REAL,
    value REAL,
    policy_version INTEGER NOT NULL,
    duration_s REAL,
    PRIMARY KEY (trajectory, position)
) WITHOUT ROWID;
CREATE TABLE screens (
    digest TEXT PRIMARY KEY, width INTEGER NOT NULL, height INTEGER NOT NULL, foreground TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE metrics (name TEXT NOT NULL, step INTEGER NOT NULL, at REAL NOT NULL, value REAL);
CREATE INDEX metrics_by_name ON metrics (name, step);
CREATE TABLE devices (  -- one row per device: its address ends in its slot of the worker
    address TEXT NOT NULL, worker TEXT NOT NULL, episodes INTEGER NOT NULL, invalid INTEGER NOT NULL,
    last_seen_at REAL NOT NULL, PRIMARY KEY (address, worker)
) WITHOUT ROWID;
CREATE TABLE events (sequence INTEGER PRIMARY KEY, at REAL NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL);
CREATE TABLE evaluations (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, step INTEGER NOT NULL, at REAL NOT NULL
);
CREATE TABLE evaluation_episodes (
    evaluation TEXT NOT NULL REFERENCES evaluations (name) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    task TEXT NOT NULL,
    template TEXT NOT NULL,
    goal TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'invalid')),
    reason TEXT NOT NULL,
    steps INTEGER NOT NULL,
    invalid_actions INTEGER NOT NULL,
    record BLOB NOT NULL,
    PRIMARY KEY (evaluation, position)
) WITHOUT ROWID;
"""

ADDED = """
CREATE TABLE IF NOT EXISTS health (  -- the newest health record of each slot's device, as JSON
    worker TEXT NOT NULL, slot INTEGER NOT NULL, at REAL NOT NULL, record TEXT NOT NULL, PRIMARY KEY (worker, slot)
) WITHOUT ROWID;
"""
"""Tables that were added without a new format version: an older run gets them when it is opened for writing, and reads
as if they were empty."""


class Database:
    """An open database. May be used from several threads; writes are serialised by a lock."""

    def __init__(self, path: Path, *, writable: bool) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self.translated_errors():
            mode = "rw" if writable else "ro"
            self.connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={mode}",
                uri=True,
                timeout=60.0,
                isolation_level=None,
                check_same_thread=False,
            )
            self.connection.execute("PRAGMA foreign_keys = ON")
            (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        if version != VERSION:
            self.connection.close()
            raise CorruptData(f"{path} has format version {version}; this program reads version {VERSION}.")
        if writable:
            with self.translated_errors():
                self.connection.executescript(ADDED)

    @staticmethod
    def create(path: Path) -> None:
        """Create an empty database. WAL mode is stored in the file and so holds for later connections."""
        connection = sqlite3.connect(path, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN; {SCHEMA} {ADDED} PRAGMA user_version = {VERSION}; COMMIT;")
        connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction: commits or rolls back. Returns after the data is on disk (synchronous is FULL)."""
        with self._lock, self.translated_errors():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # sqlite has rolled back already if the disk is full
                    self.connection.execute("ROLLBACK")
                raise

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        with self.translated_errors():
            return self.connection.execute(query, values).fetchall()

    def has_table(self, name: str) -> bool:
        return bool(self.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", name))

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Translate sqlite errors: FULL (IOERR on a full disk) to `StorageFull`, CORRUPT, NOTADB to `CorruptData`."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and self._nearly_full()):
                raise storage_full(self.path) from error
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise CorruptData(f"{self.path} is damaged: {error}. Restore it from a copy of the run.") from error
            raise

    def _nearly_full(self) -> bool:
        return shutil.disk_usage(self.path.parent).free < NEARLY_FULL_BYTES
