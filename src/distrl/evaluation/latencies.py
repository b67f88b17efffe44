"""Latencies for `distrl plan`, read from a run folder or from a bench."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from distrl.errors import ConfigError
from distrl.evaluation.capacity import Latencies, Site, forecast
from distrl.store.run import RunStore

NEWEST = 500
"""Number of newest trajectories that are used."""


def measured(store: RunStore) -> tuple[Latencies, Site]:
    """Latencies of a run's devices and learner. A run does not separate inference from acting: both are in `action_s`.

    Means over episodes, because a fleet's rate is devices over the mean cycle. The time between two episodes is a
    median, to exclude devices that waited for an evaluation or a restart.
    """
    played = list(store.trajectories(newest=NEWEST))
    if not played:
        raise ConfigError(f"Nothing was played in {store.folder} yet: there are no latencies to plan from.")
    steps = float(np.mean([len(t.steps) for t in played]))
    in_steps = [sum(step.duration_s for step in t.steps) for t in played]
    lasted = [t.duration_s for t in played]
    latencies = Latencies(
        reset_s=max(0.0, float(np.mean(lasted) - np.mean(in_steps))),
        action_s=float(np.mean(in_steps)) / steps,
        think_s=0.0,
        steps=steps,
        between_s=_between_s(store),
    )
    return latencies, _site(store)


def _between_s(store: RunStore) -> float:
    rows = store.table("worker", "device", "started_at", "duration_s")
    by_device: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for worker, device, start, lasted in zip(*(rows[name].tolist() for name in rows), strict=True):
        by_device.setdefault((worker, device), []).append((start, start + lasted))
    gaps = [later[0] - earlier[1] for episodes in by_device.values() for earlier, later in pairwise(sorted(episodes))]
    return max(0.0, float(np.median(gaps))) if gaps else 0.0


def _site(store: RunStore) -> Site:
    config, published = store.config, store.metrics("version")
    per_step = float(config["learner"]["trajectories_per_step"])
    trajectories = store.counts().trajectories
    images = sum(path.stat().st_size for path in (store.folder / "blobs").glob("*/*.jpg"))
    return Site(
        learner_s=float(np.median(np.diff(published.at))) if len(published.at) > 1 else Site.learner_s,
        trajectories_per_step=per_step,
        reuse=max(1e-6, len(published.at) * per_step / trajectories),
        trajectory_mb=images / trajectories / 2**20,
        devices_per_worker=int(config["devices"]["per_worker"]),
        paced=config["pacing"]["max_lag"] is not None,
    )


@dataclass(frozen=True)
class PredictionCheck:
    """A prediction and the measurement."""

    profile: str
    devices: int
    measured_per_min: float
    predicted_per_min: float

    @property
    def error(self) -> float:
        return self.predicted_per_min / self.measured_per_min - 1.0


def check(rows: Sequence[Mapping[str, Any]]) -> list[PredictionCheck]:
    """Every fleet of a `distrl bench async`, predicted from what the smallest one of its profile measured."""
    checks = []
    for profile in dict.fromkeys(str(row["profile"]) for row in rows):
        fleets = [row for row in rows if row["profile"] == profile]
        latencies = from_bench(min(fleets, key=lambda row: int(row["devices"])))
        for row in fleets:
            predicted = forecast(latencies, Site(), int(row["devices"])).per_min
            checks.append(PredictionCheck(profile, int(row["devices"]), float(row["async_per_min"]), predicted))
    return checks


def from_bench(row: Mapping[str, Any]) -> Latencies:
    parts = row["latencies"]
    return Latencies(**{name: float(parts[name]) for name in ("reset_s", "action_s", "think_s", "steps", "between_s")})
