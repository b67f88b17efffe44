"""Who runs where. `launch` and `evaluate_policy` are the whole door; what is heavy is imported behind it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from distrl.config import Config

if TYPE_CHECKING:
    from distrl.evaluation.evaluate import Evaluation
    from distrl.runtime.lifecycle import StartEngine
    from distrl.runtime.progress import Progress
    from distrl.runtime.ray.rehearsal import Rehearsal
    from distrl.runtime.topology import Parts


def launch(
    config: Config,
    *,
    serial: bool = False,
    resume: Path | None = None,
    progress: Progress | None = None,
    parts: type[Parts] | None = None,
) -> int:
    """Run a whole run, or go on with one, and return its exit status: 0, or 130 after Ctrl-C.

    `parts` replaces the concrete classes, for tests. Raises `DistrlError` with what to do about it.
    """
    from distrl.runtime import lifecycle
    from distrl.runtime.preflight import check_virtual_time
    from distrl.runtime.progress import Silent
    from distrl.runtime.taskfile import keep
    from distrl.runtime.topology import Parts

    if resume is not None:
        config = lifecycle.resumed_folder(config, resume)
    if serial:
        check_virtual_time(config)
    config, kept = keep(config)
    start, again = _serial if serial else _ray, resume is not None
    return lifecycle.run((parts or Parts)(config), start(), progress or Silent(), resume=again, tasks=kept)


def evaluate_policy(
    config: Config, *, progress: Progress | None = None, parts: type[Parts] | None = None
) -> Evaluation:
    """Play the config's held-out tasks with `policy.model`, in this process; no run is needed or made."""
    from distrl.evaluation.evaluate import evaluate
    from distrl.runtime.examination import examine
    from distrl.runtime.progress import Silent
    from distrl.runtime.topology import Parts

    return evaluate(examine((parts or Parts)(config), progress or Silent()))


def rehearse_inference(parts: Parts, *, steps: int, think_s: float) -> Rehearsal:
    """Have `workers.count` workers ask for decisions as in a run of these parts, and time the answers."""
    from distrl.runtime.ray.rehearsal import rehearse

    return rehearse(parts, steps=steps, think_s=think_s)


def _serial() -> StartEngine:
    from distrl.runtime.serial import SerialRun

    return SerialRun


def _ray() -> StartEngine:
    from distrl.runtime.ray import RayRun

    return RayRun
