"""Publish to applied on the last worker, for 5, 100 and 500 MB of weights; and the device time lost to it.

A training run on Ray with waiting devices and a policy of given size: the learner publishes, the host notifies the
workers, they fetch, check, stage and swap in. Latency is from the learner's seal on its weights until the last worker
acts on them. A plain copy of the same bytes in memory is measured for comparison.

Device time lost is what devices waited between publishing and the last swap beyond their usual waits: for the policy
within an episode, for spool and lease between two.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from distrl.config import Config

if TYPE_CHECKING:
    from distrl.bench._synthetic_run import SyntheticLoad

Interval = tuple[float, float]

NOISE_MS = 1.0
"""Lost time per version and device below which it counts as noise: usual waits vary by as much."""


def run(
    megabytes: tuple[str, ...] = ("5", "100", "500"),
    publishes: int = 20,
    workers: int = 2,
    devices: int = 4,
    action_s: float = 0.1,
    step_s: float = 5.0,
    seed: int = 0,
) -> dict[str, Any]:
    """One run per size: `publishes` versions, `step_s` apart, to `workers` processes with `devices` devices each.

    `step_s` should be more than twice the latency: waits are compared with those in the time between versions.
    """
    rows = {
        f"{float(size):g} MB": _row(float(size), publishes, workers, devices, action_s, step_s) for size in megabytes
    }
    return {**rows, "bars": {"device_lost_ms": 0.0, "met": all(is_nothing(row) for row in rows.values())}}


def is_nothing(row: dict[str, Any]) -> bool:
    """Whether the time lost is indistinguishable from 0, or below the noise."""
    return bool(row["device_lost_ci95_ms"][0] <= 0.0 or row["device_lost_mean_ms"] < NOISE_MS)


def _row(size: float, publishes: int, workers: int, devices: int, action_s: float, step_s: float) -> dict[str, Any]:
    from distrl.bench._synthetic_run import SyntheticLoad

    copy_ms = copying_ms(int(size * 2**20))
    with tempfile.TemporaryDirectory(prefix="distrl-bench-") as folder:
        config = _config(Path(folder), size, publishes, workers, devices, action_s)
        history = _play(config, SyntheticLoad(size, step_s))
    return figures(history, workers, copy_ms)


def copying_ms(size: int, repeats: int = 7) -> list[float]:
    """Milliseconds of a plain copy of `size` bytes into memory that is allocated already."""
    source, target = np.ones(size, np.uint8), np.zeros(size, np.uint8)
    times = []
    np.copyto(target, source)  # the pages are mapped now
    for _ in range(repeats):
        began = time.perf_counter()
        np.copyto(target, source)
        times.append(1000 * (time.perf_counter() - began))
    return times


def _config(folder: Path, size: float, publishes: int, workers: int, devices: int, action_s: float) -> Config:
    tree = {
        "run": {"folder": str(folder), "name": "weights", "learner_steps": publishes + 1, "minimum_free_mb": 0},
        "devices": {"address": f"null://phone?action_s={action_s}", "per_worker": devices},
        "workers": {"count": workers, "share_features": False},
        "replay": {"warmup": 2 * workers * devices},
        "algorithm": {"name": "filtered_bc"},
        "learner": {"trajectories_per_step": 4, "canary_trajectories": 0, "checkpoint_every_s": 1e9},
        "evaluation": {"before": False, "after": False},
        "runtime": {"object_store_mb": int(256 + 5 * size)},
    }
    return Config.model_validate(tree)


def _play(config: Config, synthetic: SyntheticLoad) -> History:
    """A whole training run, as by `distrl train`."""
    from distrl.bench._synthetic_run import SyntheticBuilder, read_timestamps
    from distrl.runtime import lifecycle
    from distrl.runtime.progress import Silent
    from distrl.runtime.ray import engine

    builder = SyntheticBuilder(config, synthetic)
    lifecycle.run(builder, engine(config.runtime), Silent(), resume=False)
    return History.read(read_timestamps(builder.timestamps_folder))


# --- reading the timestamps --------------------------------------------------------------------------


@dataclass(frozen=True)
class Applied:
    """A worker began to act on a version."""

    worker: str
    version: int
    at: float
    making_ready_s: float
    swap_s: float


@dataclass(frozen=True)
class DeviceWait:
    """A device was idle between two operations. `before` is the second one: before `perform` it waited within an
    episode, for the policy; before `reset` between episodes, for spool and lease."""

    device: str
    before: str
    start: float
    end: float

    @property
    def ms(self) -> float:
        return 1000 * (self.end - self.start)

    def touches(self, window: Interval) -> bool:
        return self.start < window[1] and self.end > window[0]


@dataclass(frozen=True)
class History:
    """When versions were published and applied, and when devices waited, by one machine's clock."""

    published: tuple[float, ...]
    """Of version 1, 2, 3 …"""
    applied: tuple[Applied, ...]
    waits: tuple[DeviceWait, ...]

    @classmethod
    def read(cls, timestamps: dict[str, list[tuple[str, ...]]]) -> History:
        published = tuple(sorted(float(at) for _, at in timestamps["publish"]))
        applied = tuple(
            Applied(worker, int(version), float(at), float(at) - float(began), float(swap))
            for worker, version, began, at, swap in timestamps["applied"]
        )
        last: dict[str, float] = {}
        waits = []
        for _, device, operation, began, ended in timestamps["busy"]:
            if device in last:
                waits.append(DeviceWait(device, operation, last[device], float(began)))
            last[device] = float(ended)
        return cls(published, applied, tuple(waits))

    def windows(self, workers: int) -> list[Interval]:
        """From publishing a version until the last worker acts on it, or on a newer one. Versions that not every worker
        had reached by the end of the run are left out."""
        found = []
        for version, at in enumerate(self.published, start=1):
            firsts: dict[str, float] = {}
            for one in sorted(self.applied, key=lambda one: one.at):
                if one.version >= version:
                    firsts.setdefault(one.worker, one.at)
            if len(firsts) == workers:
                found.append((at, max(firsts.values())))
        return found


def figures(history: History, workers: int, copy_ms: Sequence[float]) -> dict[str, Any]:
    windows = history.windows(workers)
    latencies = [1000 * (end - start) for start, end in windows]
    losses = lost_ms(history.waits, windows)
    p50 = statistics.median(latencies)
    return {
        "publishes": len(windows),
        "latency_ms": latencies,
        "latency_p50_ms": p50,
        "latency_p95_ms": float(np.quantile(latencies, 0.95)),
        "copy_ms": list(copy_ms),
        "latency_over_copy": p50 / statistics.median(copy_ms),
        "making_ready_ms": [1000 * one.making_ready_s for one in history.applied],
        "swap_ms": [1000 * one.swap_s for one in history.applied],
        "device_lost_ms": losses,
        "device_lost_mean_ms": statistics.fmean(losses),
        "device_lost_ci95_ms": interval(losses),
        "wait_ms": {
            "publishing": describe([w for w in history.waits if any(map(w.touches, windows))]),
            "quiet": describe([w for w in history.waits if not any(map(w.touches, windows))]),
        },
    }


def lost_ms(waits: Sequence[DeviceWait], windows: Sequence[Interval]) -> list[float]:
    """Per version, the mean over devices of their waiting time beyond the mean of such waits between versions."""
    devices = len({wait.device for wait in waits})
    quiet: dict[str, list[float]] = {"perform": [], "reset": []}
    for wait in waits:
        if not any(map(wait.touches, windows)):
            quiet[wait.before].append(wait.ms)
    usual = {kind: statistics.fmean(values) if values else 0.0 for kind, values in quiet.items()}
    return [sum(w.ms - usual[w.before] for w in waits if w.touches(window)) / devices for window in windows]


def interval(values: Sequence[float]) -> list[float]:
    """95 % percentile bootstrap interval of the mean."""
    draws = np.random.default_rng(0).choice(values, (10_000, len(values))).mean(1)
    return [float(bound) for bound in np.quantile(draws, [0.025, 0.975])]


def describe(waits: Sequence[DeviceWait]) -> dict[str, Any]:
    """Within episodes (before `perform`) and between them (before `reset`)."""
    found: dict[str, Any] = {}
    for kind, name in (("perform", "step"), ("reset", "episode")):
        values = [wait.ms for wait in waits if wait.before == kind]
        if values:
            p50, p95 = np.quantile(values, [0.5, 0.95])
            found[name] = {"p50": float(p50), "p95": float(p95), "longest": max(values), "count": len(values)}
    return found
