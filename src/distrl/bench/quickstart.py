"""How far the quickstart raises success on held-out tasks: one whole training per seed, one after the other."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from distrl.errors import DistrlError


def run(seeds: int = 2, config: str = "quickstart", folder: str = "runs/bench-quickstart") -> dict[str, Any]:
    """Success before and after in percent, the rise in points and both ends of its 95 % interval, seed by seed.

    A seed whose summary is in `folder` already is not trained again.
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
    if not record.exists():
        name = f"seed-{seed}"
        command = [sys.executable, "-m", "distrl.cli.main", "train", config]
        command += [f"run.seed={seed}", f"run.folder={folder}", f"run.name={name}"]
        began = time.perf_counter()
        if subprocess.run(command).returncode != 0:
            raise DistrlError(f"The run {folder / name} failed; what it said stands above. Remove it and try again.")
        summary = json.loads((folder / name / "summary.json").read_text())
        record.write_text(json.dumps({**summary, "whole_command_s": time.perf_counter() - began}, indent=1))
    figures: dict[str, Any] = json.loads(record.read_text())
    return figures
