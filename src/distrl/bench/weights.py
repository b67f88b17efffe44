"""Publish to applied on the last worker, for 5, 100 and 500 MB of weights; and the device time lost to it.

A training run on Ray with devices that wait and a policy that is nothing but weight: the learner publishes, the host
tells the workers, they fetch, check, make ready and swap. The clock starts when the learner begins to seal its weights and
stops when the last worker acts on them. Beside it stands a plain copy of the same
bytes in memory.

Lost is what the devices waited between publishing and the last swap beyond what they always wait: for the policy within
an episode, for spool and lease between two.
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
    from distrl.bench._ballast import Ballast

Interval = tuple[float, float]

NOISE_MS = 1.0
"""What counts as nothing, per version and device: waits in quiet time differ by as much."""


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

    `step_s` should be more than twice the latency: the quiet time between versions is what they are compared with.
    """
    rows = {
        f"{float(size):g} MB": _row(float(size), publishes, workers, devices, action_s, step_s) for size in megabytes
    }
    return {**rows, "bars": {"device_lost_ms": 0.0, "met": all(is_nothing(row) for row in rows.values())}}


def is_nothing(row: dict[str, Any]) -> bool:
    """Whether the time lost cannot be told from 0, or from the noise."""
    return bool(row["device_lost_ci95_ms"][0] <= 0.0 or row["device_lost_mean_ms"] < NOISE_MS)


def _row(size: float, publishes: int, workers: int, devices: int, action_s: float, step_s: float) -> dict[str, Any]:
    from distrl.bench._ballast import Ballast

    copy_ms = copying_ms(int(size * 2**20))
    with tempfile.TemporaryDirectory(prefix="distrl-bench-") as folder:
        config = _config(Path(folder), size, publishes, workers, devices, action_s)
        history = _play(config, Ballast(size, step_s))
    return figures(history, workers, copy_ms)


def copying_ms(size: int, repeats: int = 7) -> list[float]:
    """Milliseconds that a plain copy of so many bytes takes, into memory that is there already."""
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


def _play(config: Config, ballast: Ballast) -> History:
    """A whole run, as `distrl train` would run it."""
    from distrl.bench._ballast import BallastBuilder, read_marks
    from distrl.runtime import lifecycle
    from distrl.runtime.progress import Silent
    from distrl.runtime.ray import RayRun

    builder = BallastBuilder(config, ballast)
    lifecycle.run(builder, RayRun, Silent(), resume=False)
    return History.read(read_marks(builder.marks_folder))


# --- what the marks say -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Applied:
    """A worker has begun to act on a version."""

    worker: str
    version: int
    at: float
    making_ready_s: float
    swap_s: float


@dataclass(frozen=True)
class Wait:
    """A device did nothing between two operations. `before` is the second one: a wait before `perform` is one within an
    episode, for the policy; a wait before `reset` is one between episodes, for spool and lease."""

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
    """When versions were published and applied, and when devices waited; all on one machine's clock."""

    published: tuple[float, ...]
    """Of version 1, 2, 3 …"""
    applied: tuple[Applied, ...]
    waits: tuple[Wait, ...]

    @classmethod
    def read(cls, marks: dict[str, list[tuple[str, ...]]]) -> History:
        published = tuple(sorted(float(at) for _, at in marks["publish"]))
        applied = tuple(
            Applied(worker, int(version), float(at), float(at) - float(began), float(swap))
            for worker, version, began, at, swap in marks["applied"]
        )
        last: dict[str, float] = {}
        waits = []
        for _, device, operation, began, ended in marks["busy"]:
            if device in last:
                waits.append(Wait(device, operation, last[device], float(began)))
            last[device] = float(ended)
        return cls(published, applied, tuple(waits))

    def windows(self, workers: int) -> list[Interval]:
        """From publishing a version to the last worker that acts on it, or on a newer one. Versions that the end of the
        run has overtaken are left out."""
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


def lost_ms(waits: Sequence[Wait], windows: Sequence[Interval]) -> list[float]:
    """Per version, the mean over the devices of what they waited longer than such waits take in quiet time."""
    devices = len({wait.device for wait in waits})
    quiet: dict[str, list[float]] = {"perform": [], "reset": []}
    for wait in waits:
        if not any(map(wait.touches, windows)):
            quiet[wait.before].append(wait.ms)
    usual = {kind: statistics.fmean(values) if values else 0.0 for kind, values in quiet.items()}
    return [sum(w.ms - usual[w.before] for w in waits if w.touches(window)) / devices for window in windows]


def interval(values: Sequence[float]) -> list[float]:
    """95 % of the means of as many draws with replacement."""
    draws = np.random.default_rng(0).choice(values, (10_000, len(values))).mean(1)
    return [float(bound) for bound in np.quantile(draws, [0.025, 0.975])]


def describe(waits: Sequence[Wait]) -> dict[str, Any]:
    """Within episodes (before `perform`) and between them (before `reset`)."""
    found: dict[str, Any] = {}
    for kind, name in (("perform", "step"), ("reset", "episode")):
        values = [wait.ms for wait in waits if wait.before == kind]
        if values:
            p50, p95 = np.quantile(values, [0.5, 0.95])
            found[name] = {"p50": float(p50), "p95": float(p95), "longest": max(values), "count": len(values)}
    return found
