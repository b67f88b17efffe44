"""The records of a race by method, and the figures computed from them that several modules use."""

from __future__ import annotations

from collections.abc import Sequence

from distrl.bench.learning.bootstrap import Bootstrap, interval, rate
from distrl.bench.learning.curves import WINDOW_SHARE, Band, against_count, against_time, count_grid, time_grid
from distrl.bench.learning.plan import TESTS
from distrl.bench.learning.record import Record
from distrl.errors import ConfigError
from distrl.evaluation.statistics import Interval, wilson
from distrl.types import Floats


class Figures:
    """Figures of one race; bootstrap draws are cached."""

    def __init__(self, records: Sequence[Record], methods: Sequence[str], seconds: float) -> None:
        self.seconds = seconds
        self.runs: dict[str, list[Record]] = {}
        self.failed: dict[str, dict[int, str]] = {}
        for record in records:
            if record.failed:
                self.failed.setdefault(record.method, {})[record.seed] = record.failed
            else:
                self.runs.setdefault(record.method, []).append(record)
        self.done = [method for method in methods if method in self.runs]
        self.grid = time_grid(seconds)
        self._draws: dict[tuple[str, str], Floats] = {}
        self._bootstraps: dict[str, Bootstrap] = {}

    # -- training

    def smooth(self, run: Record) -> Floats:
        return against_time(run.episodes, self.grid, WINDOW_SHARE * self.seconds)

    def curve(self, method: str) -> Band:
        return Band.over(self.grid, [self.smooth(run) for run in self.runs[method]])

    def curve_by_count(self, method: str) -> Band:
        """Up to the number of trajectories of the method's longest run."""
        grid = count_grid(max(len(run.episodes) for run in self.runs[method]))
        return Band.over(grid, [against_count(run.episodes, grid) for run in self.runs[method]])

    # -- tests

    def tests(self, *methods: str) -> tuple[str, ...]:
        """The tests for which all of these methods have results."""
        return tuple(test for test in TESTS if all(self.played(method, test) for method in methods))

    def played(self, method: str, test: str) -> list[Record]:
        """The runs with results of this test; older records may lack a newer test."""
        return [run for run in self.runs[method] if test in run.tests]

    def rate(self, runs: Sequence[Record], test: str) -> float:
        return rate([run.tests[test].success for run in runs])

    def success(self, method: str, test: str) -> float:
        return self.rate(self.played(method, test), test)

    def interval(self, method: str, test: str) -> Interval:
        """A success rate with its interval. At 0 and 100 % the bootstrap has no variance; there it is Wilson's
        interval, as if each task had been played once."""
        success, tasks = self.success(method, test), len(self._tasks(test))
        if success in (0.0, 1.0):
            return Interval(success, *wilson(round(success * tasks), tasks))
        return interval(success, self.draws(method, test))

    def draws(self, method: str, test: str) -> Floats:
        """Bootstrap success rates; the n-th draw has the same tasks for every method."""
        if (method, test) not in self._draws:
            outcomes = [run.tests[test].success for run in self.played(method, test)]
            self._draws[method, test] = self._bootstrap(test).rates(outcomes, method)
        return self._draws[method, test]

    def _bootstrap(self, test: str) -> Bootstrap:
        if test not in self._bootstraps:
            self._bootstraps[test] = Bootstrap(len(self._tasks(test)))
        return self._bootstraps[test]

    def _tasks(self, test: str) -> tuple[str, ...]:
        lists = {run.tests[test].tasks for runs in self.runs.values() for run in runs if test in run.tests}
        if len(lists) != 1:
            raise ConfigError(
                f"The runs were tested on different tasks of {test} and cannot be compared. "
                "Records of one --folder belong to one race: name another --folder and run them again."
            )
        return lists.pop()
