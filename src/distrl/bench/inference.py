"""Latency and batch size of inference: a policy in every worker against policy servers for all of them."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np

from distrl.config import Config
from distrl.runtime import time_inference
from distrl.runtime.topology import Builder


def run(
    workers: int = 2,
    devices: int = 8,
    servers: int = 1,
    steps: int = 12,
    think_s: float = 0.5,
    batch_size: int = 32,
    batch_wait_ms: float = 5.0,
    repeats: int = 3,
    model: str = "pocket",
    seed: int = 0,
) -> dict[str, Any]:
    """`workers` × `devices` devices request `steps` decisions each, `think_s` on average after the last one, on new
    screens only. Local and remote take turns. `batch_wait_ms` is for the servers; a worker's own policy never waits."""
    rounds = [
        {
            name: measure(
                settings(workers, devices, name, servers, batch_size, batch_wait_ms, model, seed + n), steps, think_s
            )
            for name in ("local", "remote")
        }
        for n in range(repeats)
    ]
    figures = {name: {key: [each[name][key] for each in rounds] for key in rounds[0][name]} for name in rounds[0]}
    return {"workers": workers, "devices_per_worker": devices, "servers": servers, **figures}


def measure(tree: dict[str, Any], steps: int, think_s: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        tree["run"] = {**tree["run"], "folder": folder}
        heard = time_inference(Builder(Config.model_validate(tree)), steps=steps, think_s=think_s)
    milliseconds = 1000 * np.array(heard.latencies_s)
    return {
        "latency_p50_ms": float(np.percentile(milliseconds, 50)),
        "latency_p95_ms": float(np.percentile(milliseconds, 95)),
        "mean_batch": heard.decisions / heard.batches,
        "decisions_per_s": heard.decisions / heard.seconds,
    }


def settings(
    workers: int,
    devices: int,
    inference: str,
    servers: int,
    batch_size: int,
    batch_wait_ms: float,
    model: str,
    seed: int,
) -> dict[str, Any]:
    return {
        "run": {"name": "bench", "seed": seed, "minimum_free_mb": 0},
        "workers": {"count": workers, "inference": inference},
        "devices": {"per_worker": devices},
        "policy": {
            "model": model,
            "batch_size": batch_size,
            "batch_wait_ms": batch_wait_ms if inference == "remote" else 0.0,
        },
        "runtime": {"policy_servers": servers},
    }
