"""A trajectory as rows of the run's database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import asdict, replace

import numpy as np

from distrl.devices.base import Health
from distrl.errors import CorruptData
from distrl.store import codec
from distrl.types import Screen, Trajectory


def screens_of(trajectory: Trajectory) -> Iterator[Screen]:
    yield from (step.screen for step in trajectory.steps)
    if trajectory.last_screen is not None:
        yield trajectory.last_screen


def record_of(trajectory: Trajectory) -> bytes:
    steps = tuple(replace(step, screen=step.screen.reference()) for step in trajectory.steps)
    last_screen = trajectory.last_screen and trajectory.last_screen.reference()
    return codec.encode(replace(trajectory, steps=steps, last_screen=last_screen))


def clean(text: str) -> str:
    """Text for sqlite: lone surrogates are escaped; the record keeps them."""
    return text.encode("utf-8", "backslashreplace").decode()


def summary(trajectory: Trajectory) -> tuple[str | int, ...]:
    task, outcome = trajectory.task, trajectory.outcome
    texts = (trajectory.id, task.id, task.template, task.goal, outcome.kind, outcome.reason)
    return (*map(clean, texts), len(trajectory.steps), trajectory.invalid_actions)


def insert_trajectory(db: sqlite3.Connection, trajectory: Trajectory, version_at_insert: int) -> None:
    entropies = [step.decision.entropy for step in trajectory.steps]
    row = (
        *summary(trajectory),
        trajectory.policy_version,
        version_at_insert,
        float(np.mean(entropies)) if entropies else None,
        clean(trajectory.worker),
        clean(trajectory.device),
        trajectory.started_at,
        trajectory.duration_s,
        record_of(trajectory),
    )
    db.execute(f"INSERT INTO trajectories VALUES (NULL{', ?' * len(row)})", row)
    for position, step in enumerate(trajectory.steps):
        decision = step.decision
        numbers = (decision.logprob, decision.entropy, decision.value, decision.policy_version, step.duration_s)
        cells = (clean(trajectory.id), position, step.screen.digest, clean(decision.text), *numbers)
        db.execute("INSERT INTO steps VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", cells)


def insert_screens(db: sqlite3.Connection, trajectory: Trajectory) -> None:
    rows = [(s.digest, s.width, s.height, clean(s.foreground)) for s in screens_of(trajectory)]
    db.executemany("INSERT OR IGNORE INTO screens VALUES (?, ?, ?, ?)", rows)


def count_device(db: sqlite3.Connection, trajectory: Trajectory) -> None:
    invalid = int(trajectory.outcome.kind == "invalid")
    seen_at = trajectory.started_at + trajectory.duration_s
    db.execute(
        "INSERT INTO devices VALUES (?, ?, 1, ?, ?) ON CONFLICT DO UPDATE SET episodes = episodes + 1, "
        "invalid = invalid + excluded.invalid, last_seen_at = max(last_seen_at, excluded.last_seen_at)",
        (clean(trajectory.device), clean(trajectory.worker), invalid, seen_at),
    )


def keep_health(db: sqlite3.Connection, worker: str, health: Health, at: float) -> None:
    row = (clean(worker), health.slot, at, json.dumps(asdict(health)))
    db.execute("INSERT OR REPLACE INTO health VALUES (?, ?, ?, ?)", row)


def health_of(record: object) -> Health:
    """Raises `CorruptData`."""
    try:
        tree = json.loads(str(record))
        return Health(**{**tree, "recovery_s": tuple(tree["recovery_s"])})
    except (ValueError, TypeError, KeyError) as error:
        raise CorruptData(f"A record of a device's health cannot be read: {error!r}.") from error


def as_bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise CorruptData("A record in the database is not bytes.")
    return value
