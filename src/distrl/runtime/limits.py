"""When training ends, and how long it has been going on over all of its interruptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from distrl.config import RunConfig


class TrainingLimits:
    """Counts training time while it is running; evaluation is not counted."""

    def __init__(self, config: RunConfig, now: Callable[[], float], trained_s: float = 0.0) -> None:
        self._config = config
        self._now = now
        self._before_s = trained_s
        self._since: float | None = None

    def start(self) -> None:
        self._since = self._now()

    def stop(self) -> None:
        self._before_s, self._since = self.trained_s, None

    @property
    def trained_s(self) -> float:
        return self._before_s + (self._now() - self._since if self._since is not None else 0.0)

    @property
    def limit_s(self) -> float | None:
        return None if self._config.minutes is None else 60.0 * self._config.minutes

    def reached(self, stats: Mapping[str, float]) -> bool:
        run = self._config
        return (
            (self.limit_s is not None and self.trained_s >= self.limit_s)
            or (run.learner_steps is not None and stats.get("learner_steps", 0) >= run.learner_steps)
            or (run.trajectories is not None and stats.get("trajectories", 0) >= run.trajectories)
        )
