"""Where a run reports to while it goes on. The runtime itself prints nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Progress(Protocol):
    """Called from one thread; never raises. Every key of `stats` is optional:

    phase, elapsed_s, limit_s, success, trajectories, trajectories_per_minute, invalid, duplicates, queue, lag,
    learner_steps, learner_steps_per_s, version, in_flight, replay, workers, disk_full (1: workers are held),
    quarantined (devices);
    evaluation, evaluation_done, evaluation_total, evaluation_successes.
    """

    def update(self, stats: Mapping[str, Any]) -> None: ...

    def message(self, text: str) -> None: ...


class Silent:
    """For whoever does not want to watch."""

    def update(self, stats: Mapping[str, Any]) -> None:
        return

    def message(self, text: str) -> None:
        return
