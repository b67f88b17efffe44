"""Comparisons of one method with another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from distrl.bench.learning.bootstrap import interval, ratio
from distrl.bench.learning.curves import first_reach, last, stability
from distrl.bench.learning.figures import Figures
from distrl.bench.learning.methods import METHODS, OURS, RIVALS, SYNCHRONOUS_RIVAL

COLLAPSED_BELOW = 0.9


def compare(figures: Figures) -> dict[str, Any]:
    """Every comparison whose methods were run."""
    return {
        "ratio_to_best_digirl": ratio_to_best(figures, RIVALS),
        "ratio_to_digirl_sync": ratio_to_best(figures, [SYNCHRONOUS_RIVAL]),
        "reaching_digirl_sync": reaching(figures),
        "ablations": ablations(figures),
        "collapsed": collapsed(figures),
    }


def ratio_to_best(figures: Figures, rivals: Sequence[str]) -> dict[str, Any]:
    """A-RIDE's success over that of the best of these. The best is chosen anew in each bootstrap draw, so
    that the interval includes this selection."""
    rivals = [name for name in rivals if name in figures.done]
    if OURS not in figures.done or not rivals:
        return {}
    found: dict[str, Any] = {}
    for test in figures.tests(OURS, *rivals):
        best = max(rivals, key=lambda name: figures.success(name, test))
        below = np.max([figures.draws(name, test) for name in rivals], axis=0)
        ours, theirs = figures.success(OURS, test), figures.success(best, test)
        estimate = ratio(ours, theirs, figures.draws(OURS, test), below)
        found[test.replace("-", "_")] = {"best": best, "ratio": estimate}
    return found


def reaching(figures: Figures) -> dict[str, Any]:
    """When A-RIDE's training curve reaches the final level of synchronous DigiRL's. `fraction` is relative to the time
    at which DigiRL's own curve first reached it, the harder comparison; `fraction_of_the_run` to the whole run."""
    if OURS not in figures.done or SYNCHRONOUS_RIVAL not in figures.done:
        return {}
    ours, theirs = figures.curve(OURS), figures.curve(SYNCHRONOUS_RIVAL)
    target = last(theirs.mean)
    needed, took = first_reach(ours.grid, ours.mean, target), first_reach(theirs.grid, theirs.mean, target)
    return {
        "target": target,
        "seconds": needed,
        "digirl_sync_seconds": took,
        "fraction": needed / took if needed is not None and took else None,
        "fraction_of_the_run": needed / figures.seconds if needed is not None else None,
        "seconds_by_seed": [first_reach(figures.grid, figures.smooth(run), target) for run in figures.runs[OURS]],
    }


def ablations(figures: Figures) -> dict[str, Any]:
    """Success on test-instances of the full method minus that of each ablation; above 0 the component helps."""
    found = {}
    for name in figures.done:
        full = METHODS[name].against
        if full not in figures.done or "test-instances" not in figures.tests(full, name):
            continue
        change = figures.success(full, "test-instances") - figures.success(name, "test-instances")
        draws = figures.draws(full, "test-instances") - figures.draws(name, "test-instances")
        gain = interval(change, draws)
        found[name] = {"against": full, "gain": gain, "full_is_beaten": gain.high < 0, "piece_pays": gain.low > 0}
    return found


def collapsed(figures: Figures) -> list[str]:
    """Runs whose success in the last fifth is below 0.9 times that in their best fifth."""
    return [
        f"{name}-{run.seed}"
        for name in figures.done
        for run in figures.runs[name]
        if (steady := stability(run.episodes, figures.seconds)) is not None and steady < COLLAPSED_BELOW
    ]
