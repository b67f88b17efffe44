"""`summary.json` of a run: its main results."""

from __future__ import annotations

import json
from pathlib import Path

from distrl.evaluation.evaluate import Comparison, compare, evaluate
from distrl.store.files import write_whole
from distrl.store.run import RunStore
from distrl.types import Tree

BEFORE, AFTER = "before", "after"
"""Names of the evaluations before and after training."""


def write_summary(run_folder: Path) -> Tree:
    """Write `summary.json` into the run folder and return its content."""
    with RunStore.read(run_folder) as store:
        summary = summarise(store)
    write_whole(run_folder / "summary.json", json.dumps(summary, indent=2).encode() + b"\n")
    return summary


def summarise(store: RunStore) -> Tree:
    """Counts of the run; rates and their difference if the evaluations before and after were played."""
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
    if (comparison := compare_ends(store)) is not None:
        return {**summary, **comparison.summary()}
    for name in _played(store):
        evaluation = evaluate(store.evaluation_trajectories(name))
        summary |= {f"success_{name}": evaluation.success, "episodes": evaluation.episodes}
    return summary


def compare_ends(store: RunStore) -> Comparison | None:
    """Before against after, when both were played."""
    if _played(store) != [BEFORE, AFTER]:
        return None
    before, after = (evaluate(store.evaluation_trajectories(name)) for name in (BEFORE, AFTER))
    return compare(before, after)


def _played(store: RunStore) -> list[str]:
    names = {entry.name for entry in store.evaluations()}
    return [name for name in (BEFORE, AFTER) if name in names]
