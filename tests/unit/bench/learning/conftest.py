"""Made-up records of runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from distrl.bench.learning.plan import WARM_START, RaceEntry, RacePlan
from distrl.bench.learning.record import Episodes, Record, SplitResult

SECONDS = 60.0
TASKS = 40
MADE = {
    "code": "abc",
    "python": "3.11",
    "libraries": {"torch": "2"},
    "hardware": {"cpus": 2, "gpus": []},
    "date": "2026-01-01T00:00:00+00:00",
}


def episodes_rising(to: float, seed: int, count: int = 400) -> Episodes:
    """Success that rises in a line from 0.2 to `to`, on five templates in turn."""
    rng = np.random.default_rng(seed)
    seconds = np.linspace(0.1, SECONDS, count)
    chance = 0.2 + (to - 0.2) * seconds / SECONDS
    return Episodes(seconds, (rng.random(count) < chance).astype(float), np.arange(count) % 5)


def outcomes(rate: float, seed: int, tasks: int = TASKS) -> str:
    hard = np.random.default_rng(1).random(tasks) + 0.05 * np.random.default_rng(seed).random(tasks)
    return "".join("1" if difficulty < rate else "0" for difficulty in hard)


def record_of(plan: RacePlan, entry: RaceEntry, rate: float) -> Record:
    config = plan.config(entry).model_dump(mode="json")
    names = tuple(f"task-{number}" for number in range(TASKS))
    tests = {split: SplitResult(names, outcomes(rate, entry.seed)) for split in ("test-instances", "test-apps")}
    if entry.method == WARM_START:
        return Record(entry.method, entry.seed, config, MADE, tests=tests)
    return Record(
        entry.method,
        entry.seed,
        config,
        MADE,
        trained_s=SECONDS,
        learner_steps=70,
        diagnostics={"lag/p50": 12.0},
        episodes=episodes_rising(rate, entry.seed),
        tests=tests,
    )


RATES = {"warm_start": 0.2, "a_ride": 0.8, "digirl_sync": 0.5, "digirl_async": 0.6, "a_ride_uniform": 0.55}


@pytest.fixture
def plan(tmp_path: Path) -> RacePlan:
    methods = ("a_ride", "digirl_sync", "digirl_async", "a_ride_uniform")
    return RacePlan("general", "emulator", SECONDS / 60, dict.fromkeys(methods, 2), tmp_path / "race")


@pytest.fixture
def made_up(plan: RacePlan) -> list[Record]:
    return [record_of(plan, entry, RATES[entry.method]) for entry in plan.entries()]


@pytest.fixture
def make_record() -> Callable[[RacePlan, RaceEntry, float], Record]:
    return record_of
