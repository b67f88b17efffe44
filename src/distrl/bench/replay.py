"""Insert, draw 256 and update 256 in replay at 1k, 10k and 1M items, beside cpprb and torchrl, one thread.

The contenders take turns within one run. Ours holds whole trajectories and computes group statistics; the others hold
one number per item and priorities only. Items are made before insertion is timed. Python's garbage collector is off
during measurements.

Before anything is timed, the sampled distribution of each contender is checked against p^alpha / sum.
"""

from __future__ import annotations

import gc
import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from distrl.bench import _contenders
from distrl.bench._contenders import Contender
from distrl.errors import ConfigError
from distrl.types import Floats

BATCH = 256
BINS = 64
ALPHA = 0.5
SHARE_BAR = 0.01
UNLIKELY = 1e-3
"""Significance level of the check: a correct sampler with independent draws fails it this rarely, a stratified one even
more rarely."""


def run(
    sizes: tuple[str, ...] = ("1000", "10000", "1000000"),
    repeats: int = 5,
    rounds: int = 100,
    draws: int = 1000,
    learner_step_s: float = 2.0,
    seed: int = 0,
) -> dict[str, Any]:
    """Microseconds per call, one mean per repeat of `rounds` calls. `draws` batches check the distribution.

    `learner_step_s` is how long a learner step takes, of which drawing and updating must be less than 1 %.
    """
    require_scipy()
    makers, missing = _contenders.available()
    rows = {str(int(size)): _row(makers, int(size), repeats, rounds, draws, seed) for size in sizes}
    shares = {
        size: [learner_share(row["distrl"], n, learner_step_s) for n in range(repeats)] for size, row in rows.items()
    }
    return {
        **rows,
        "share_of_learner_step": shares,
        "missing": missing,
        "versions": _contenders.versions(makers),
        "bars": {
            "share_of_learner_step_below": SHARE_BAR,
            "met": all(statistics.median(values) < SHARE_BAR for values in shares.values()),
            "distributions_right": all(one["distribution"]["right"] for row in rows.values() for one in row.values()),
        },
    }


def learner_share(figures: dict[str, Any], repeat: int, learner_step_s: float) -> float:
    """One draw and one update in a learner step."""
    return float((figures["sample_256_us"][repeat] + figures["update_256_us"][repeat]) / 1e6 / learner_step_s)


def _row(
    makers: dict[str, Callable[..., Contender]], size: int, repeats: int, rounds: int, draws: int, seed: int
) -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    priorities = rng.lognormal(0.0, 1.0, size)
    row: dict[str, dict[str, Any]] = {}
    with _no_collector():
        contenders = {name: make(size, ALPHA, seed) for name, make in makers.items()}
        for name, contender in contenders.items():
            contender.fill(priorities)
            row[name] = {"distribution": check(contender, priorities, draws)}
            row[name] |= {"insert_us": [], "sample_256_us": [], "update_256_us": []}
        for _ in range(repeats):
            for name, contender in contenders.items():
                for figure, value in _time(contender, rounds, rng).items():
                    row[name][figure].append(value)
    return row


def _time(contender: Contender, rounds: int, rng: np.random.Generator) -> dict[str, float]:
    items = [(item,) for item in contender.items(rounds)]
    inserting, _ = _mean_us(contender.insert, items)
    sampling, drawn = _mean_us(contender.sample, [(BATCH,)] * rounds)
    updating, _ = _mean_us(contender.update, [(sample, rng.lognormal(0.0, 1.0, BATCH)) for sample in drawn])
    return {"insert_us": inserting, "sample_256_us": sampling, "update_256_us": updating}


def _mean_us(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> tuple[float, list[Any]]:
    """Microseconds per call, and what the calls returned."""
    began = time.perf_counter()
    answers = [function(*arguments) for arguments in calls]
    return 1e6 * (time.perf_counter() - began) / len(calls), answers


@contextmanager
def _no_collector() -> Iterator[None]:
    """Garbage collection off: it would traverse a million objects repeatedly while they are made."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# --- checking the distribution -----------------------------------------------------------------


def check(contender: Contender, priorities: Floats, draws: int) -> dict[str, Any]:
    """Chi-square test: sample, and compare the frequency of each of 64 classes of priority with its expectation."""
    mass = priorities**ALPHA / (priorities**ALPHA).sum()
    kinds, expected = classes(mass)
    counts = np.zeros(len(expected))
    for _ in range(draws):
        places = contender.places(contender.sample(BATCH))
        counts += np.bincount(kinds[places], minlength=len(expected))
    distance, p_value = chi_square(counts, expected * counts.sum())
    return {"chi_square": distance, "degrees": len(expected) - 1, "p_value": p_value, "right": p_value > UNLIKELY}


def classes(mass: Floats) -> tuple[Any, Floats]:
    """Items in order of their mass, cut into at most 64 classes of about equal mass: class of each, mass of each."""
    order = np.argsort(mass)
    before = np.cumsum(mass[order]) - mass[order]
    kinds = np.empty(len(mass), dtype=np.int64)
    kinds[order] = np.unique((before * BINS).astype(np.int64), return_inverse=True)[1]
    return kinds, np.asarray(np.bincount(kinds, weights=mass), dtype=np.float64)


def chi_square(counts: Floats, expected: Floats) -> tuple[float, float]:
    """The chi-square statistic and its p-value for a correct sampler with independent draws."""
    from scipy.stats import chisquare

    found = chisquare(counts, expected)
    return float(found.statistic), float(found.pvalue)


def require_scipy() -> None:
    """Raises before the measurement starts."""
    if importlib.util.find_spec("scipy") is None:
        raise ConfigError("`bench replay` tests its draws with scipy. Install it with `pip install 'distrl[bench]'`.")
