"""The learner's side of the graph, one turn at a time: sample → step → priorities, metrics, weights → host."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from distrl.errors import StorageFull
from distrl.learner import checkpoint
from distrl.learner.base import ScreenSource
from distrl.learner.learner import Learner
from distrl.replay.base import Sample
from distrl.types import Trajectory, Tree, VersionedWeights


class LearnerHost(ScreenSource, Protocol):
    """The host as the learner sees it; every call waits for its answer."""

    @property
    def version(self) -> int: ...

    @property
    def weights_missing(self) -> bool:
        """As of the last `sample`: the host started again and has no weights to give out."""

    def sample(self, count: int) -> Sample | None: ...

    def first(self, count: int) -> list[Trajectory]: ...

    def update_priorities(self, ids: Sequence[str], priorities: Sequence[float]) -> None: ...

    def record(self, step: int, metrics: Mapping[str, float]) -> None: ...

    def publish(self, weights: VersionedWeights) -> None:
        """Returns once workers can have them. A host that keeps the arrays copies them: they change with the next
        step."""

    def replay_state(self) -> Tree: ...

    def report(self, worker: str, kind: str, detail: str) -> None: ...


class LearnerLoop:
    """Drives one learner. Owned by whoever owns the learner's thread."""

    def __init__(self, learner: Learner, host: LearnerHost, folder: Path, now: Callable[[], float]) -> None:
        self.learner = learner
        self.host = host
        self.folder = folder
        self.now = now
        self._config = learner.config.learner
        self._checkpoint_due_at = now() + self._config.checkpoint_every_s
        self._canary_is_due = False

    def begin(self) -> None:
        """Before the first turn. A learner that starts again gives its weights a version nobody has seen."""
        if self.learner.steps == 0 and self.host.version == 0:
            self._canary_is_due = self._config.canary_trajectories > 0
            return
        self.learner.catch_up(self.host.version)
        self.learner.version += 1
        self.host.publish(self.learner.sealed())

    def turn(self) -> bool:
        """One learner step if there is something to learn from; False where there was nothing, and the learner may
        rest before it tries again. Raises `CanaryMismatch` before the first one,
        `TrainingDiverged` after too many bad ones, `StorageFull` when the host cannot keep the result."""
        sample = self.host.sample(self._config.trajectories_per_step)
        if self.host.weights_missing:
            # Under their own version: as long as that is the same, so are the weights.
            self.host.publish(self.learner.sealed())
        if sample is None:
            return False
        if self._canary_is_due:
            self.learner.canary(self.host.first(4 * self._config.canary_trajectories), self.host)
            self._canary_is_due = False
        report = self.learner.step(sample, self.host)
        self.host.update_priorities(list(report.priorities), list(report.priorities.values()))
        self.host.record(self.learner.steps, report.metrics)
        if report.skipped:
            self.host.report("learner", "step_skipped", f"not finite; sample {', '.join(report.ids)}")
        if report.publish:
            self.host.publish(self.learner.sealed())
        if self.now() >= self._checkpoint_due_at:
            self.checkpoint()
        return not report.idle

    def checkpoint(self) -> Path | None:
        """Write one; without room for it the older ones stay, the run goes on and tries again later."""
        self._checkpoint_due_at = self.now() + self._config.checkpoint_every_s
        try:
            return checkpoint.save(self.folder, self.learner, self.host.replay_state(), {"at": self.now()})
        except StorageFull as error:
            self.host.report("learner", "checkpoint_failed", str(error))
            return None
