"""Every algorithm on the whole graph, on the virtual clock, in the toy world."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from batches import uses_critic
from safetensors.numpy import load_file
from toy import ToyBuilder, ToyPolicy, toy_config

from distrl.learner import checkpoint
from distrl.registry import ALGORITHMS
from distrl.runtime import launch
from distrl.store.run import RunStore

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
UNATTENDED = {"before": False, "after": False}


@pytest.mark.parametrize("name", sorted(ALGORITHMS.names()))
def test_every_algorithm_trains_and_every_figure_it_logs_is_explained(tmp_path: Path, name: str) -> None:
    config = toy_config(
        tmp_path,
        run={"learner_steps": 6},
        algorithm={"name": name},
        tasks={"group_size": 4 if name == "grpo" else 1},
        replay={"warmup": 64},
        learner={"trajectories_per_step": 32},  # chance succeeds seldom, and some algorithms learn from success alone
        evaluation=UNATTENDED,
    )
    assert launch(config, serial=True, builder=ToyBuilder) == 0
    newest = checkpoint.latest(config.run_folder / "checkpoints")
    assert newest is not None
    weights = load_file(newest / "weights.safetensors")
    moved = {key: abs(weights[key] - array).max() > 0 for key, array in ToyPolicy().weights().items()}
    assert moved == {"logits": True, "values": uses_critic(name)}
    with RunStore.read(config.run_folder) as store:
        names = store.metric_names()
        assert store.metrics("version").step[-1] == 6
        assert store.metrics("replay/terminal").value[-1] > 0
        group = store.metrics("replay/group").value[-1]
    assert (group > 2) == (name == "grpo")
    assert [figure for figure in names if not re.search(rf"`{figure}`", PAGE)] == []


@pytest.mark.parametrize("name", ["digirl", "filtered_bc"])
def test_synchronous_training_is_a_setting_for_every_algorithm(tmp_path: Path, name: str) -> None:
    """Also where a sample may teach nothing: the round ends with a version all the same."""
    config = toy_config(
        tmp_path,
        run={"learner_steps": 5},
        algorithm={"name": name},
        pacing={"max_lag": 0, "trajectories_per_version": 4.0},
        learner={"trajectories_per_step": 1},
        evaluation=UNATTENDED,
    )
    assert launch(config, serial=True, builder=ToyBuilder) == 0
    with RunStore.read(config.run_folder) as store:
        table = store.table("policy_version", "version_at_insert")
    after_warmup = slice(config.replay.warmup + 4, None)
    assert (table["version_at_insert"] - table["policy_version"])[after_warmup].max() <= 1
