"""The record of one run: training episodes in compact form, test outcomes, and provenance.

A small JSON file that is independent of the run folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from distrl.evaluation.evaluate import Evaluation
from distrl.store.files import write_whole
from distrl.store.run import RunStore
from distrl.types import Floats

DIAGNOSTICS = (
    *("advantage/", "host/", "lag/", "policy/", "priority/", "ratio/", "replay/", "sample/"),
    *("trajectory_value/", "value/"),
)
"""Prefixes of the metrics that are recorded, as their mean over the second half of the learner steps."""
MARKS = {"success": "1", "failure": "0", "invalid": "-"}
"""A test's outcomes are one character each, in the order of its tasks."""


@dataclass(frozen=True)
class Episodes:
    """The training episodes of a run, in the order of insertion. Every array has shape [N]."""

    seconds: Floats
    """When it ended, since the first one started."""
    success: Floats
    template: np.ndarray[Any, np.dtype[np.int64]]
    """Index of the template, for balanced means."""

    def __len__(self) -> int:
        return len(self.seconds)


NO_EPISODES = Episodes(np.empty(0), np.empty(0), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class SplitResult:
    """Outcomes of one test of the final policy."""

    tasks: tuple[str, ...]
    outcomes: str

    @property
    def success(self) -> Floats:
        """1, 0, or nan where the episode was invalid; shape [tasks]."""
        return np.array([{"1": 1.0, "0": 0.0}.get(mark, np.nan) for mark in self.outcomes])


@dataclass(frozen=True)
class Record:
    method: str
    seed: int
    config: dict[str, Any]
    """Every setting of the run."""
    made: dict[str, Any] = field(default_factory=dict)
    """Code, libraries, hardware, date."""
    weights: str = ""
    """Digest of the initial weights; empty in records older than this field."""
    failed: str = ""
    """The error, if the run failed; empty for a completed run."""
    trained_s: float = 0.0
    learner_steps: int = 0
    invalid: int = 0
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    episodes: Episodes = NO_EPISODES
    tests: Mapping[str, SplitResult] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        write_whole(path, json.dumps(_tree(self)).encode() + b"\n")

    @classmethod
    def read(cls, path: Path) -> Record:
        tree = json.loads(path.read_text(encoding="utf-8"))
        episodes = tree.pop("episodes")
        tests = tree.pop("tests")
        return cls(
            **tree,
            episodes=Episodes(
                np.array(episodes["seconds"], dtype=float),
                np.array([float(mark) for mark in episodes["success"]]),
                np.array(episodes["template"], dtype=np.int64),
            ),
            tests={name: SplitResult(tuple(test["tasks"]), test["outcomes"]) for name, test in tests.items()},
        )


def trained(folder: Path) -> dict[str, Any]:
    """The fields of a record that are read from the run folder."""
    with RunStore.read(folder) as store:
        steps, seconds = store.metrics("host/trajectories").step, store.metrics("run/trained_s").value
        return {
            "trained_s": float(seconds[-1]) if len(seconds) else 0.0,
            "learner_steps": int(steps[-1]) if len(steps) else 0,
            "invalid": store.counts().invalid,
            "diagnostics": _diagnostics(store),
            "episodes": _episodes(store),
        }


def tested(evaluation: Evaluation) -> SplitResult:
    tasks = tuple(result.task_id for result in evaluation.results)
    return SplitResult(tasks, "".join(MARKS[result.outcome] for result in evaluation.results))


def _episodes(store: RunStore) -> Episodes:
    table = store.table("started_at", "duration_s", "outcome", "template")
    if not len(table["outcome"]):
        return NO_EPISODES
    started = table["started_at"].astype(float)
    seconds = started - started.min() + table["duration_s"].astype(float)
    _, template = np.unique(table["template"], return_inverse=True)
    return Episodes(seconds, (table["outcome"] == "success").astype(float), template.astype(np.int64))


def _diagnostics(store: RunStore) -> dict[str, float]:
    found = {}
    for name in store.metric_names():
        values = store.metrics(name).value
        late = values[len(values) // 2 :]
        if name.startswith(DIAGNOSTICS) and np.isfinite(late).any():
            found[name] = float(np.nanmean(late))
    return found


def _tree(record: Record) -> dict[str, Any]:
    episodes = record.episodes
    return {
        **{name: value for name, value in vars(record).items() if name not in ("episodes", "tests")},
        "episodes": {
            "seconds": episodes.seconds.round(2).tolist(),
            "success": "".join(f"{one:.0f}" for one in episodes.success),
            "template": episodes.template.tolist(),
        },
        "tests": {name: {"tasks": test.tasks, "outcomes": test.outcomes} for name, test in record.tests.items()},
    }
