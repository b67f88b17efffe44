"""How far the quickstart raises success on held-out tasks: one whole training per seed, one after the other."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from distrl.config import load_config
from distrl.errors import ConfigError, DistrlError
from distrl.policies.models import weights_digest


def run(seeds: int = 2, config: str = "quickstart", folder: str = "runs/bench-quickstart") -> dict[str, Any]:
    """Success before and after in percent, the rise in points and both ends of its 95 % interval, seed by seed.

    A seed whose summary is in `folder` already is not trained again. Raises `ConfigError` if other settings or other
    weights made it.
    """
    runs = [_trained(config, Path(folder), seed) for seed in range(seeds)]
    return {
        "success_before_percent": [100 * run["success_before"] for run in runs],
        "success_after_percent": [100 * run["success_after"] for run in runs],
        "rise_points": [100 * run["difference"] for run in runs],
        "rise_low_points": [100 * run["difference_ci95"][0] for run in runs],
        "rise_high_points": [100 * run["difference_ci95"][1] for run in runs],
        "held_out_tasks": [float(run["episodes"]) for run in runs],
        "trajectories": [float(run["trajectories"]) for run in runs],
        "learner_steps": [float(run["learner_steps"]) for run in runs],
        "whole_command_s": [run["whole_command_s"] for run in runs],
    }


def _trained(config: str, folder: Path, seed: int) -> dict[str, Any]:
    record = folder / f"seed-{seed}.json"
    made_of = fingerprint(config)
    if not record.exists():
        name = f"seed-{seed}"
        command = [sys.executable, "-m", "distrl.cli.main", "train", config]
        command += [f"run.seed={seed}", f"run.folder={folder}", f"run.name={name}"]
        began = time.perf_counter()
        if subprocess.run(command).returncode != 0:
            raise DistrlError(f"The run {folder / name} failed; what it said stands above. Remove it and try again.")
        summary = json.loads((folder / name / "summary.json").read_text())
        took = {"whole_command_s": time.perf_counter() - began, "made_of": made_of}
        record.write_text(json.dumps({**summary, **took}, indent=1))
    figures: dict[str, Any] = json.loads(record.read_text())
    if figures.get("made_of") != made_of:
        raise ConfigError(
            f"{record} was made with other settings or from another model. Remove {folder} to train again, or name "
            "another one with folder=…"
        )
    return figures


def fingerprint(config: str) -> str:
    """Of the settings and of the weights that training starts from."""
    settings = load_config(config)
    weights = weights_digest(settings.policy.model)
    return hashlib.sha256(f"{settings.model_dump_json()} {weights}".encode()).hexdigest()
