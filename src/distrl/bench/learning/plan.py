"""The plan of a race: one config for every method and seed, made from one base."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from distrl.bench.learning.methods import METHODS
from distrl.config import Config, load_config, with_free_name
from distrl.registry import ALGORITHMS
from distrl.tasks.base import load_suite

BASE = "learning"
"""The config that all methods share."""
CHOOSES = "algorithm.name="
GREEDY = "test-instances-greedy"
"""The tasks of test-instances with greedy decoding."""
TESTS = ("test-instances", GREEDY, "test-templates", "test-apps")
"""Tests of the final policy: a split each, sampled at `evaluation.temperature` except for `GREEDY`."""
WARM_START = "warm_start"
"""Method name of the policy before training."""
WAITS = ("latency", "scale")
"""Options of a simulated phone's address that only make it slower."""


@dataclass(frozen=True, slots=True)
class RaceEntry:
    """One run, or the evaluation of the warm start."""

    method: str
    seed: int

    @property
    def name(self) -> str:
        return self.method if self.method == WARM_START else f"{self.method}-{self.seed}"

    @property
    def trains(self) -> bool:
        return self.method != WARM_START


@dataclass(frozen=True, slots=True)
class RacePlan:
    suite: str
    profile: str
    """Latency model of the simulated phones."""
    minutes: float
    methods: Mapping[str, int]
    """Method → number of seeds."""
    folder: Path
    """For the runs, their logs and their records."""
    changes: tuple[str, ...] = ()
    """Overrides for all methods alike; a setting of one algorithm is for the methods that run it."""

    @property
    def seeds(self) -> int:
        """The largest number of seeds of any method."""
        return max(self.methods.values())

    def entries(self) -> Iterator[RaceEntry]:
        """Seed by seed, and within a seed method by method: changing load on the machine affects all methods alike."""
        yield RaceEntry(WARM_START, 0)
        for seed in range(self.seeds):
            yield from (RaceEntry(method, seed) for method, seeds in self.methods.items() if seed < seeds)

    def config(self, entry: RaceEntry) -> Config:
        """The settings of one run. The method's own overrides are applied last. Raises `ConfigError`."""
        settings = METHODS[entry.method].settings if entry.trains else ()
        algorithm = self._algorithm(settings)
        shared = [*self._shared(entry), *self._changes_for(algorithm), f"{CHOOSES}{algorithm}"]
        base = load_config(BASE, shared)
        devices = base.workers.count * base.devices.per_worker
        steps = max(1, round(devices * (base.pacing.max_reuse or 1.0) / base.learner.trajectories_per_step))
        own = [setting.format(devices=devices, steps=steps) for setting in settings]
        return load_config(BASE, [*shared, *own])

    def runnable(self, entry: RaceEntry) -> Config:
        """The same with a run folder that does not exist yet; folders of interrupted runs are left alone."""
        return with_free_name(self.config(entry))

    def tests(self) -> tuple[str, ...]:
        """The tests for which the suite has tasks."""
        only = self.config(RaceEntry(WARM_START, 0)).tasks.only
        suite = load_suite(self.suite, only)
        return tuple(test for test in TESTS if _split(test) in suite.splits)

    @property
    def records(self) -> Path:
        return self.folder / "records"

    def _shared(self, entry: RaceEntry) -> list[str]:
        return [
            f"tasks.suite={self.suite}",
            f"devices.address=sim://phone?latency={self.profile}",
            f"run.folder={self.folder}",
            f"run.name={entry.name}{{n}}",
            f"run.minutes={self.minutes}",
            f"run.seed={entry.seed}",
            "evaluation.before=false",
            "evaluation.after=false",
        ]

    def _algorithm(self, settings: Sequence[str]) -> str:
        """The name of the one that a method with these settings runs."""
        chosen = [
            setting.removeprefix(CHOOSES) for setting in (*self.changes, *settings) if setting.startswith(CHOOSES)
        ]
        return chosen[-1] if chosen else load_config(BASE).algorithm.name

    def _changes_for(self, algorithm: str) -> list[str]:
        """The changes for all methods, without settings of algorithms that only other methods of the plan run. What
        none of them has stays, to be refused."""
        others = {self._algorithm(METHODS[method].settings) for method in self.methods} - {algorithm}
        elsewhere = {f"algorithm.{key}" for other in others for key in ALGORITHMS.load(other).model_fields}
        own = {f"algorithm.{key}" for key in ALGORITHMS.load(algorithm).model_fields}
        return [change for change in self.changes if change.partition("=")[0] not in elsewhere - own]


def evaluation_config(config: Config, test: str, model: str) -> Config:
    """The settings of one test: its split and model, on phones without latency (their screens are the same)."""
    wanted = {"split": _split(test)} | ({"temperature": 0.0} if test == GREEDY else {})
    return config.model_copy(
        update={
            "devices": config.devices.model_copy(update={"address": without_waits(config.devices.address)}),
            "evaluation": config.evaluation.model_copy(update=wanted),
            "policy": config.policy.model_copy(update={"model": model}),
        }
    )


def _split(test: str) -> str:
    return "test-instances" if test == GREEDY else test


def without_waits(address: str) -> str:
    parts = urlsplit(address)
    kept = [(key, value) for key, value in parse_qsl(parts.query) if key not in WAITS]
    return parts._replace(query=urlencode(kept)).geturl()


def cores() -> list[int]:
    """The CPU cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def shares(parallel: int) -> list[list[int]]:
    """Equal shares of the cores for parallel runs; if there are more runs than cores, each gets all cores."""
    mine = cores()
    each = len(mine) // parallel
    return [mine[number * each : (number + 1) * each] if each else mine for number in range(parallel)]
