"""The timeline of a run: when each device played, and how long the device itself was busy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from distrl.types import Floats


@dataclass(frozen=True, slots=True)
class TimelineEpisode:
    """One episode of one device. Times are seconds of the run's clock."""

    slot: int
    started_at: float
    ended_at: float | None
    """None: still playing when the run was stopped."""
    next_at: float | None
    """When the same device began its next episode; None: it began none."""
    own_s: float
    """Duration of the episode without waiting for other components: latency of device and policy."""
    version: int = 0
    """The version it was played with."""
    lag: int = 0
    """Versions made between that one and its insertion."""

    def slower(self, factor: float) -> TimelineEpisode:
        return replace(
            self,
            started_at=factor * self.started_at,
            ended_at=None if self.ended_at is None else factor * self.ended_at,
            next_at=None if self.next_at is None else factor * self.next_at,
            own_s=factor * self.own_s,
        )

    @property
    def cycle_s(self) -> float | None:
        """From its beginning to that of the device's next one."""
        return None if self.next_at is None else self.next_at - self.started_at


@dataclass(slots=True)
class BusyTimes:
    """When devices were busy: resetting, acting, rendering."""

    slot: list[int] = field(default_factory=list)
    started_at: list[float] = field(default_factory=list)
    ended_at: list[float] = field(default_factory=list)
    kind: list[str] = field(default_factory=list)

    def add(self, slot: int, kind: str, started_at: float, ended_at: float) -> None:
        self.slot.append(slot)
        self.kind.append(kind)
        self.started_at.append(started_at)
        self.ended_at.append(ended_at)

    def slower(self, factor: float) -> BusyTimes:
        started_at, ended_at = ([factor * at for at in times] for times in (self.started_at, self.ended_at))
        return BusyTimes(self.slot, started_at, ended_at, self.kind)

    def inside(self, begin: float, end: float, kind: str | None = None) -> float:
        """Busy device seconds between two times, of one kind or of all."""
        first, last = np.array(self.started_at), np.array(self.ended_at)
        parts: Floats = np.clip(np.minimum(last, end) - np.maximum(first, begin), 0.0, None)
        if kind is not None:
            parts = parts[np.array(self.kind) == kind]
        return float(parts.sum())


@dataclass(frozen=True)
class Timeline:
    """One run."""

    devices: int
    learner_s: float
    """What one learner step takes."""
    begin: float
    """When counting begins, after the devices are no longer synchronised by the common start."""
    end: float
    episodes: tuple[TimelineEpisode, ...]
    uses: BusyTimes
    steps: int
    """Steps of one episode."""
    scale: float = 1.0
    """Factor by which the phones' times were multiplied."""
    cpus: float = 0.0
    """Processor time over wall-clock, of the whole run."""

    @property
    def seconds(self) -> float:
        return self.end - self.begin

    def in_phone_time(self) -> Timeline:
        """The same with the scale taken out of all times. Framework overhead is not scaled in a run: it counts 1/scale
        times as much as with real phones."""
        return replace(
            self,
            learner_s=self.learner_s / self.scale,
            begin=self.begin / self.scale,
            end=self.end / self.scale,
            episodes=tuple(episode.slower(1.0 / self.scale) for episode in self.episodes),
            uses=self.uses.slower(1.0 / self.scale),
        )

    @property
    def busy_fraction(self) -> float:
        """Time that devices spend resetting, acting and rendering, over the time there is."""
        return self.uses.inside(self.begin, self.end) / (self.devices * self.seconds)

    @property
    def cycles(self) -> tuple[TimelineEpisode, ...]:
        """Episodes whose device has begun its next one while we counted."""
        return tuple(e for e in self.episodes if e.next_at is not None and self.begin < e.next_at <= self.end)
