"""Computes the published figures from records: the content of `results/learning-<suite>.json`.

Training success is the last point of the smoothed curve (`curves`); test success is over all tasks and seeds, with
intervals from `bootstrap`. Times to reach a level are read from the mean curve over the seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from distrl.bench.learning import comparisons
from distrl.bench.learning.curves import WINDOW_EPISODES, WINDOW_SHARE, Band, first_reach, last, stability
from distrl.bench.learning.figures import Figures
from distrl.bench.learning.methods import METHODS
from distrl.bench.learning.plan import WARM_START, RacePlan
from distrl.bench.learning.record import Record
from distrl.evaluation.statistics import Interval

LEVELS = (60, 90)
"""Levels of the times, in percent of the best final training success."""
HOW = {
    "final_success": "success on test-instances with the final policy, over all tasks and seeds",
    "test_instances_greedy": "the same tasks, always with the likeliest token; "
    "over the runs that were tested so, where those are not all: `…_runs`",
    "ci95": "bootstrap over tasks (the same for all methods) and, inside each method, over seeds; "
    "10,000 draws; at 0 and 100 % Wilson's interval over the tasks",
    "curve": f"mean over seeds of training success in a window of {WINDOW_SHARE:.0%} of the run, templates weighted "
    f"equally; by_trajectories: in a window of {WINDOW_EPISODES} trajectories",
    "seconds_to": "first time the curve is at 60 % and 90 % of the best method's training success at the end",
    "stability": "training success in a run's last fifth over that in its best fifth; below 0.9 is a collapse",
}


def result(plan: RacePlan, records: Sequence[Record], command: Sequence[str]) -> dict[str, Any]:
    """Everything, as plain data."""
    figures = Figures(records, tuple(plan.methods), 60 * plan.minutes)
    best = max((last(figures.curve(name).mean) for name in figures.done), default=math.nan, key=_or_minus_one)
    tree: dict[str, Any] = _plain(
        {
            "command": list(command),
            **made(records),
            "suite": plan.suite,
            "profile": plan.profile,
            "minutes": plan.minutes,
            "seeds": plan.seeds,
            "changes": list(plan.changes),
            "how": HOW,
            "warm_start": tests(figures, WARM_START) if WARM_START in figures.runs else {},
            "best_training_success": best,
            "methods": {name: {"seeds": seeds, **method(figures, name, best)} for name, seeds in plan.methods.items()},
            "comparisons": comparisons.compare(figures),
        }
    )
    return tree


def made(records: Sequence[Record]) -> dict[str, Any]:
    """Versions and hardware of all runs; where they differ, a list of the variants."""
    return {
        "versions": _once(
            [{"code": r.made["code"], "python": r.made["python"], **r.made["libraries"]} for r in records]
        ),
        "hardware": _once([r.made["hardware"] for r in records]),
        "date": max(record.made["date"] for record in records),
    }


def method(figures: Figures, name: str, best: float) -> dict[str, Any]:
    base: dict[str, Any] = {
        "label": METHODS[name].label,
        "settings": list(METHODS[name].settings),
        "runs": len(figures.runs.get(name, ())),
        "failed": {str(seed): reason for seed, reason in figures.failed.get(name, {}).items()},
    }
    if name not in figures.done:
        return base | {"final_success": None, "final_success_ci95": None}
    runs, curve = figures.runs[name], figures.curve(name)
    steadiness = [stability(run.episodes, figures.seconds) for run in runs]
    return {
        **base,
        **tests(figures, name),
        "training_success": last(curve.mean),
        **{f"seconds_to_{level}": first_reach(curve.grid, curve.mean, level / 100 * best) for level in LEVELS},
        "trajectories": _mean([len(run.episodes) for run in runs]),
        "learner_steps": _mean([run.learner_steps for run in runs]),
        "invalid": sum(run.invalid for run in runs),
        "stability": min((one for one in steadiness if one is not None), default=None),
        "diagnostics": _diagnostics(runs),
        "curve": _band(curve, "seconds"),
        "curve_by_trajectories": _band(figures.curve_by_count(name), "trajectories"),
        "per_seed": [_seed(figures, run, steady) for run, steady in zip(runs, steadiness, strict=True)],
    }


def tests(figures: Figures, name: str) -> dict[str, Any]:
    """Success with its interval in each test; `final_success` is that on test-instances."""
    found: dict[str, Any] = {}
    for test in figures.tests(name):
        interval = figures.interval(name, test)
        key = "final_success" if test == "test-instances" else test.replace("-", "_")
        found |= {key: interval.estimate, f"{key}_ci95": [interval.low, interval.high]}
        if (runs := len(figures.played(name, test))) < len(figures.runs[name]):
            found[f"{key}_runs"] = runs
    return found


def _seed(figures: Figures, run: Record, steady: float | None) -> dict[str, Any]:
    return {
        "seed": run.seed,
        "trained_s": run.trained_s,
        "trajectories": len(run.episodes),
        "learner_steps": run.learner_steps,
        "training_success": last(figures.smooth(run)),
        "stability": steady,
        **{test.replace("-", "_"): figures.rate([run], test) for test in run.tests},
        "outcomes": {name: test.outcomes for name, test in run.tests.items()},
    }


def _band(band: Band, axis: str) -> dict[str, Any]:
    return {axis: band.grid, "success": band.mean, "lowest": band.low, "highest": band.high}


def _diagnostics(runs: Sequence[Record]) -> dict[str, float]:
    names = sorted({name for run in runs for name in run.diagnostics})
    return {name: _mean([run.diagnostics[name] for run in runs if name in run.diagnostics]) for name in names}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _or_minus_one(value: float) -> float:
    return value if math.isfinite(value) else -1.0


def _once(variants: Sequence[dict[str, Any]]) -> Any:
    different = [one for place, one in enumerate(variants) if one not in variants[:place]]
    return different[0] if len(different) == 1 else different


def _plain(value: Any) -> Any:
    """Values for JSON, which has no arrays and no nan; rounded to four digits."""
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, Interval):
        return {"estimate": _plain(value.estimate), "ci95": [_plain(value.low), _plain(value.high)]}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else None
    return value
