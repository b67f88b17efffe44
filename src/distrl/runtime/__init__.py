"""Who runs where. `launch` and `evaluate_policy` are the whole door; what is heavy is imported behind it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from distrl.config import Config

if TYPE_CHECKING:
    from distrl.evaluation.evaluate import Evaluation
    from distrl.runtime.lifecycle import StartEngine
    from distrl.runtime.progress import Progress
    from distrl.runtime.ray.inference_load import InferenceTimings
    from distrl.runtime.topology import Builder


def launch(
    config: Config,
    *,
    serial: bool = False,
    resume: Path | None = None,
    progress: Progress | None = None,
    builder: type[Builder] | None = None,
) -> int:
    """Run a whole run, or go on with one, and return its exit status: 0, or 130 after Ctrl-C.

    `builder` replaces the concrete classes, for tests. Raises `DistrlError` with what to do about it.
    """
    from distrl.runtime import lifecycle
    from distrl.runtime.preflight import check_virtual_time
    from distrl.runtime.progress import Silent
    from distrl.runtime.task_files import keep
    from distrl.runtime.topology import Builder

    if resume is not None:
        config = lifecycle.resumed_folder(config, resume)
    if serial:
        check_virtual_time(config)
    config, kept = keep(config)
    start = _serial() if serial else _ray(config)
    again = resume is not None
    return lifecycle.run((builder or Builder)(config), start, progress or Silent(), resume=again, tasks=kept)


def evaluate_policy(
    config: Config, *, progress: Progress | None = None, builder: type[Builder] | None = None
) -> Evaluation:
    """Play the config's held-out tasks with `policy.model`, in this process; no run is needed or made."""
    from distrl.evaluation.evaluate import evaluate
    from distrl.runtime.evaluation import play_evaluation
    from distrl.runtime.progress import Silent
    from distrl.runtime.topology import Builder

    return evaluate(play_evaluation((builder or Builder)(config), progress or Silent()))


def time_inference(builder: Builder, *, steps: int, think_s: float) -> InferenceTimings:
    """Have `workers.count` workers ask for decisions as in a run of these parts, and time the answers."""
    from distrl.runtime.ray import prepare

    prepare(builder.config.runtime)
    from distrl.runtime.ray.inference_load import time_inference as timed

    return timed(builder, steps=steps, think_s=think_s)


def _serial() -> StartEngine:
    from distrl.runtime.serial import SerialRun

    return SerialRun


def _ray(config: Config) -> StartEngine:
    from distrl.runtime.ray import engine

    return engine(config.runtime)
