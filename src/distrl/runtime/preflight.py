"""What can be known to be wrong before anything starts: names that do not exist, models that are not there."""

from __future__ import annotations

from pathlib import Path

from distrl.config import Config
from distrl.errors import CheckpointError
from distrl.tasks.base import load_suite


def check(config: Config) -> None:
    """Raises the error that a run of this config would run into; starts nothing and writes nothing."""
    from distrl.policies.vlm import model_folder

    suite = load_suite(config.tasks.suite)
    for split in (config.tasks.split, config.evaluation.split):
        suite.tasks(split, 1, config.run.seed)
    model_folder(config.policy.model)


def newest_model(run: Path) -> Path:
    """The model folder of a run's newest checkpoint that is whole."""
    from distrl.learner import checkpoint

    found = checkpoint.find(run / "checkpoints").path
    if found is None:
        raise CheckpointError(f"{run} has no checkpoint yet; evaluate the model it started from instead.")
    return found / "model"
