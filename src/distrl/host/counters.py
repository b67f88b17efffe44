"""Counters of a run: trajectories, learner steps, rates, moving averages."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np

from distrl.store.run import Counts

SUCCESS_WINDOW = 100
"""Trajectories in the moving average of the success rate."""
RATE_WINDOW_S = 120.0


class RunCounters:
    """Counts are restored from the store after a restart; moving averages start anew."""

    def __init__(self, counts: Counts, learner_steps: int, now: Callable[[], float]) -> None:
        self._now = now
        self._started_at = now()
        self.trajectories = counts.trajectories
        self.invalid = counts.invalid
        self.duplicates = 0
        self.learner_steps = learner_steps
        self._drawn = 0
        self._inserted_here = 0
        self._rewards: deque[float] = deque(maxlen=SUCCESS_WINDOW)
        self._insert_lags: deque[int] = deque(maxlen=SUCCESS_WINDOW)
        self._insert_times: deque[float] = deque(maxlen=10_000)
        self._step_times: deque[float] = deque(maxlen=50)
        self._batch_lag = 0.0

    def inserted(self, reward: float, lag: int) -> None:
        self.trajectories += 1
        self._inserted_here += 1
        self._rewards.append(reward)
        self._insert_lags.append(lag)
        self._insert_times.append(self._now())

    def sampled(self, count: int, lags: Sequence[int]) -> None:
        self._drawn += count
        self._batch_lag = float(np.mean(lags)) if lags else 0.0

    def learned(self, step: int) -> None:
        self.learner_steps = step
        self._step_times.append(self._now())

    def overused(self, max_reuse: float | None, count: int) -> bool:
        """Whether `count` more would make the learner see each trajectory more than `max_reuse` times on average."""
        return max_reuse is not None and self._drawn + count > max_reuse * max(self._inserted_here, 1)

    def curves(self) -> dict[str, float]:
        """Metrics recorded with every learner step."""
        return {
            "host/trajectories": self.trajectories,
            "host/invalid": self.invalid,
            "host/trajectories_per_minute": self.trajectories_per_minute,
            "host/lag": self._batch_lag,
            **({"host/success": float(np.mean(self._rewards))} if self._rewards else {}),
        }

    def stats(self) -> dict[str, float]:
        """Statistics for the progress display; `distrl.runtime.progress.Progress` lists the names."""
        return {
            "produced": self.trajectories + self.invalid,
            "trajectories": self.trajectories,
            "invalid": self.invalid,
            "duplicates": self.duplicates,
            "lag": self._batch_lag,
            "insert_lag": float(np.mean(self._insert_lags)) if self._insert_lags else 0.0,
            "learner_steps": self.learner_steps,
            "learner_steps_per_s": _rate(self._step_times),
            "trajectories_per_minute": self.trajectories_per_minute,
            **({"success": float(np.mean(self._rewards))} if self._rewards else {}),
        }

    @property
    def trajectories_per_minute(self) -> float:
        window_s = min(RATE_WINDOW_S, max(1.0, self._now() - self._started_at))
        recent = sum(at > self._now() - window_s for at in self._insert_times)
        return 60.0 * recent / window_s


def _rate(times: Sequence[float]) -> float:
    """Events per second over the times given."""
    if len(times) < 2 or times[-1] <= times[0]:
        return 0.0
    return (len(times) - 1) / (times[-1] - times[0])
