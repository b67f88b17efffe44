"""All runs of the bench, interleaved: every repeat plays every fleet both ways before the next repeat begins."""

from __future__ import annotations

import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from distrl.bench.asynchrony import fairness
from distrl.bench.asynchrony.figures import RunPair, asynchronous_rate, row, synchronous_rate
from distrl.bench.asynchrony.profiles import MEAN_S, EpisodeDurations
from distrl.bench.asynchrony.timeline import Timeline
from distrl.bench.asynchrony.trial import AsyncTrial, run_trial
from distrl.store.provenance import describe

Say = Callable[[str], None]
Keep = Callable[[dict[str, Any]], None]
Pairs = dict[tuple[str, int], list[RunPair]]

SCALE, DEVICES_AT_SCALE = 0.01, 128
EPISODES, REAL_EPISODES = 8.0, 18.0
"""Mean episodes in a run. One with the real learner does not end with a round, so it must hold several."""
FAIRNESS_DEVICES = 16
"""Enough: pacing counts trajectories, not devices."""
SWITCH_S = 0.0005
"""Python's thread switch interval; with the default of 5 ms, devices would wait that long for the host's thread."""


@dataclass(frozen=True)
class AsyncCampaign:
    """What is measured. Times are those of phones; a run takes `scale` of them."""

    profiles: tuple[str, ...]
    devices: tuple[int, ...]
    repeats: int
    minutes: float | None
    """Wall-clock of one run; a synchronous one goes on to the end of its round, and plays two of them at least.
    None: eight mean episodes, two of which are not counted; eighteen with the real learner."""
    scale: float | None
    """None: 1/100, and more for fleets of more than 128 devices, so that two cores need not make more than fifty
    trajectories a second."""
    think_s: float
    learner_s: float
    seed: int
    real: str | None = None
    """Config whose learner and policy take part; None: a learner that sleeps and a policy that is scripted."""
    fairness_lags: tuple[int, ...] = (1, 4)

    def __post_init__(self) -> None:
        for profile in self.profiles:
            EpisodeDurations(profile, 1.0)  # raises UnknownName before hours of work

    def run(self, say: Say, keep: Keep = lambda figures: None) -> dict[str, Any]:
        """All figures, with what is needed to reproduce them. `keep` gets the figures so far after every repeat."""
        pairs: Pairs = defaultdict(list)
        with tempfile.TemporaryDirectory(prefix="distrl-bench-") as name, _quick_switching():
            folder = Path(name)
            for repeat in range(self.repeats):
                self._repeat(repeat, pairs, folder, say)
                keep(self._figures(pairs, []))
            return self._figures(pairs, [] if self.real else self._fairness(folder, say))

    def _figures(self, pairs: Pairs, fair: list[dict[str, Any]]) -> dict[str, Any]:
        made = describe(seed=self.seed, command=["distrl", *sys.argv[1:]], date=datetime.now(UTC))
        return {
            "bench": "async",
            "rows": [row(profile, devices, played) for (profile, devices), played in pairs.items()],
            "fairness": fair,
            "settings": asdict(self),
            "command": made["command"],
            "versions": {"distrl": made["code"], "python": made["python"], **made["libraries"]},
            "hardware": made["hardware"],
            "date": made["date"],
        }

    def _repeat(self, repeat: int, pairs: Pairs, folder: Path, say: Say) -> None:
        for profile in self.profiles:
            for devices in self.devices:
                pair = self._pair(profile, devices, repeat, folder)
                pairs[profile, devices].append(pair)
                say(f"{repeat + 1}/{self.repeats}  {profile}, {devices} devices: {_rates(pair)}")

    def _pair(self, profile: str, devices: int, repeat: int, folder: Path) -> RunPair:
        """The order of the two runs alternates between repeats."""
        order = (False, True) if repeat % 2 == 0 else (True, False)
        played = {barrier: self._play(profile, devices, repeat, folder, synchronous=barrier) for barrier in order}
        return RunPair(played[False], played[True])

    def _play(self, profile: str, devices: int, repeat: int, folder: Path, *, synchronous: bool) -> Timeline:
        if self.real:
            from distrl.bench.asynchrony.real import RealTrial  # late: it needs torch and Ray

            pace = EpisodeDurations(profile, self.scale_of(devices))
            return RealTrial(
                self.real, pace, devices, self.seed + repeat, synchronous, self.seconds_of(devices) / 60.0, folder
            ).play()
        max_lag = 0 if synchronous else None
        trial = AsyncTrial(
            profile, devices, self.seed + repeat, self.scale_of(devices), self.think_s, self.learner_s, max_lag
        )
        name = f"{profile}-{devices}-{repeat}-{'sync' if synchronous else 'async'}"
        return run_trial(trial, folder / name, self.seconds_of(devices)).timeline

    def scale_of(self, devices: int) -> float:
        return self.scale if self.scale is not None else SCALE * max(1.0, devices / DEVICES_AT_SCALE)

    def seconds_of(self, devices: int) -> float:
        episodes = REAL_EPISODES if self.real else EPISODES
        return 60.0 * self.minutes if self.minutes else episodes * MEAN_S * self.scale_of(devices)

    def _fairness(self, folder: Path, say: Say) -> list[dict[str, Any]]:
        devices = min(FAIRNESS_DEVICES, max(self.devices))
        rows = []
        for profile in self.profiles:
            for max_lag in self.fairness_lags:
                say(f"fairness  {profile}, {devices} devices, max_lag {max_lag}")
                rows.append(
                    fairness.fairness_row(
                        profile, devices, max_lag, folder / f"fair-{profile}-{max_lag}", seed=self.seed
                    )
                )
        return rows


def _rates(pair: RunPair) -> str:
    free, held = asynchronous_rate(pair.asynchronous), synchronous_rate(pair.synchronous)
    return (
        f"{free.per_min:.1f} against {held.per_min:.1f} a minute, "
        f"{free.efficiency:.3f} and {held.efficiency:.3f} of what is possible"
    )


@contextmanager
def _quick_switching() -> Any:
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def numbers(text: str) -> tuple[int, ...]:
    """`8,32` → (8, 32). Raises ValueError."""
    return tuple(int(part) for part in text.split(","))


def names(text: str, known: Sequence[str]) -> tuple[str, ...]:
    return tuple(known) if text == "all" else tuple(part.strip() for part in text.split(","))
