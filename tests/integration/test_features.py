"""A screen goes through the vision tower once in the whole system: in the worker that saw it first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from toy import ToyBuilder, ToyPolicy, toy_config

from distrl.learner import checkpoint
from distrl.runtime import launch
from distrl.store.run import RunStore


def played(
    folder: Path, builder: type[ToyBuilder] = ToyBuilder, **changes: Any
) -> tuple[np.ndarray, np.ndarray, bytes]:
    """Screens adopted and fetched per learner step, and the weights at the end."""
    config = toy_config(folder, evaluation={"before": False, "after": False}, **changes)
    assert launch(config, serial=True, builder=builder) == 0
    newest = checkpoint.latest(config.run_folder / "checkpoints")
    assert newest is not None
    with RunStore.read(config.run_folder) as store:
        adopted, fetched = store.metrics("screens/adopted").value, store.metrics("screens/fetched").value
    return adopted, fetched, (newest / "weights.safetensors").read_bytes()


def test_what_workers_saw_the_learner_never_looks_at_and_learns_the_same(tmp_path: Path) -> None:
    blind = {"learner": {"canary_trajectories": 0}}
    adopted, fetched, weights = played(tmp_path / "shared", **blind)
    assert adopted.sum() > 0
    assert fetched.sum() == 0
    no, all_of_them, same = played(tmp_path / "kept", **blind, workers={"share_features": False})
    assert no.sum() == 0
    assert all_of_them.sum() == adopted.sum()
    assert weights == same


def test_the_canary_looks_at_the_images_although_features_were_shared(tmp_path: Path) -> None:
    looked: list[str] = []

    class Watched(ToyPolicy):
        def remember(self, screens: Any) -> None:
            looked.extend(screen.digest for screen in screens)
            super().remember(screens)

    class WatchedBuilder(ToyBuilder):
        def learner(self) -> Any:
            learner = super().learner()
            learner.policy = Watched()
            learner.optimiser = learner.new_optimiser()
            return learner

    _, fetched, _ = played(tmp_path, WatchedBuilder)
    assert looked
    assert fetched.sum() == 0
