"""The whole graph on the virtual clock, in the toy world."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from toy import ToyBuilder, ToyPolicy, toy_config

from distrl.errors import CanaryMismatch, CheckpointError, RunExists, RunNotFound
from distrl.learner import checkpoint
from distrl.runtime import evaluate_policy, launch
from distrl.runtime.progress import Silent
from distrl.store.codec import encode
from distrl.store.run import RunStore
from distrl.types import Decision, Prompt


def content(folder: Path) -> dict[str, Any]:
    """All that two equal runs must have in common."""
    newest = checkpoint.latest(folder / "checkpoints")
    assert newest is not None
    with RunStore.read(folder) as store:
        return {
            "ids": store.ids(),
            "trajectories": [encode(t) for t in store.trajectories()],
            "evaluations": [[encode(t) for t in store.evaluation_trajectories(n)] for n in ("before", "after")],
            "metrics": {name: store.metrics(name).value.tobytes() for name in store.metric_names()},
            "events": store.events(),
            "weights": (newest / "weights.safetensors").read_bytes(),
            "summary": json.loads((folder / "summary.json").read_text()) | {"report": ""},
        }


def test_two_runs_with_one_seed_are_equal_byte_for_byte(tmp_path: Path) -> None:
    runs = []
    for name in ("a", "b"):
        assert launch(toy_config(tmp_path / name, workers={"count": 2}), serial=True, builder=ToyBuilder) == 0
        runs.append(content(tmp_path / name / "toy"))
    assert runs[0] == runs[1]
    assert len(runs[0]["ids"]) > 8


def test_another_seed_gives_another_run(tmp_path: Path) -> None:
    runs = []
    for seed in (0, 1):
        config = toy_config(tmp_path / str(seed), run={"seed": seed})
        launch(config, serial=True, builder=ToyBuilder)
        runs.append(content(config.run_folder))
    assert runs[0]["ids"] != runs[1]["ids"]
    assert runs[0]["weights"] != runs[1]["weights"]


def test_a_run_learns_its_toy_tasks(tmp_path: Path) -> None:
    config = toy_config(
        tmp_path,
        run={"learner_steps": 120},
        devices={"per_worker": 8},
        learner={"trajectories_per_step": 8, "critic_learning_rate": 0.3, "checkpoint_every_s": 60.0},
        evaluation={"episodes": 64},
        runtime={"serial_step_s": 0.5},
    )
    launch(config, serial=True, builder=ToyBuilder)
    summary = json.loads((config.run_folder / "summary.json").read_text())
    assert summary["success_after"] > summary["success_before"] + 0.2
    assert summary["difference_ci95"][0] > 0
    assert summary["episodes"] == 64
    assert (config.run_folder / "report.html").is_file()


def test_a_resumed_run_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    config = toy_config(tmp_path)
    launch(config, serial=True, builder=ToyBuilder)
    longer = toy_config(tmp_path, run={"learner_steps": 9})
    assert launch(longer, serial=True, resume=config.run_folder, builder=ToyBuilder) == 0
    with RunStore.read(config.run_folder) as store:
        versions = store.metrics("version").value
        assert (versions[1:] > versions[:-1]).all()
        assert store.metrics("version").step[-1] == 9
        assert len(set(store.ids())) == len(store.ids())
        assert [entry.name for entry in store.evaluations()] == ["before", "after"]


def test_ctrl_c_leaves_a_checkpoint_and_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    class Impatient(Silent):
        messages: list[str] = []

        def update(self, stats: Mapping[str, Any]) -> None:
            if stats.get("learner_steps") == 2:
                os.kill(os.getpid(), signal.SIGINT)

        def message(self, text: str) -> None:
            self.messages.append(text)

    config = toy_config(tmp_path)
    progress = Impatient()
    assert launch(config, serial=True, builder=ToyBuilder, progress=progress) == 130
    assert any("--resume" in text for text in progress.messages)
    assert checkpoint.latest(config.run_folder / "checkpoints") is not None
    assert not (config.run_folder / "summary.json").exists()
    assert list((config.run_folder / "spool").rglob("*.msgpack")) == []
    assert launch(config, serial=True, resume=config.run_folder, builder=ToyBuilder) == 0
    assert json.loads((config.run_folder / "summary.json").read_text())["learner_steps"] == 5


def test_models_and_devices_are_opened_once_for_many_episodes(tmp_path: Path) -> None:
    opened: list[str] = []

    class Counted(ToyBuilder):
        def policy(self, seed: int, device: str) -> Any:
            opened.append("policy")
            return super().policy(seed, device)

        async def device(self, worker: str, slot: int) -> Any:
            opened.append(f"{worker}/{slot}")
            return await super().device(worker, slot)

    config = toy_config(
        tmp_path, run={"learner_steps": 30}, workers={"count": 2}, evaluation={"before": False, "after": False}
    )
    assert launch(config, serial=True, builder=Counted) == 0
    devices = [f"worker-{worker}/{slot}" for worker in range(2) for slot in range(3)]
    assert sorted(opened) == sorted([*devices, *["policy"] * 3])  # two workers' and the learner's
    with RunStore.read(config.run_folder) as store:
        assert store.counts().trajectories > 10 * len(devices)
        assert len({t.policy_version for t in store.trajectories()}) > 5


def test_a_damaged_checkpoint_is_passed_over_with_a_word_and_nothing_is_lost(tmp_path: Path) -> None:
    class Listener(Silent):
        def __init__(self) -> None:
            self.messages: list[str] = []

        def message(self, text: str) -> None:
            self.messages.append(text)

    config = toy_config(tmp_path, run={"learner_steps": 30}, learner={"checkpoint_every_s": 2.0})
    launch(config, serial=True, builder=ToyBuilder)
    newest, older = sorted((config.run_folder / "checkpoints").iterdir(), key=lambda path: -float(path.name))
    (newest / "weights.safetensors").write_bytes(b"torn")
    with RunStore.read(config.run_folder) as store:
        before = store.ids()
    listener = Listener()
    longer = toy_config(tmp_path, run={"learner_steps": 32})
    assert launch(longer, serial=True, resume=config.run_folder, builder=ToyBuilder, progress=listener) == 0
    assert "weights.safetensors is not what was written" in listener.messages[0]
    assert str(older) in listener.messages[0]
    with RunStore.read(config.run_folder) as store:
        assert store.ids()[: len(before)] == before
        versions = store.metrics("version").value
    assert (versions[1:] > versions[:-1]).all()
    for path in (config.run_folder / "checkpoints").iterdir():
        (path / "manifest.json").unlink()
    with pytest.raises(CheckpointError, match="trajectories are untouched"):
        launch(longer, serial=True, resume=config.run_folder, builder=ToyBuilder)


def test_synchronous_training_never_learns_from_a_stale_trajectory(tmp_path: Path) -> None:
    config = toy_config(
        tmp_path, pacing={"max_lag": 0, "trajectories_per_version": 4.0}, evaluation={"before": False, "after": False}
    )
    assert launch(config, serial=True, builder=ToyBuilder) == 0
    with RunStore.read(config.run_folder) as store:
        table = store.table("policy_version", "version_at_insert")
    after_warmup = slice(config.replay.warmup + 4, None)
    assert (table["version_at_insert"] - table["policy_version"])[after_warmup].max() <= 1


def test_evaluation_while_training_is_kept_beside_the_others(tmp_path: Path) -> None:
    config = toy_config(tmp_path, run={"learner_steps": 20}, evaluation={"every_minutes": 0.05})
    launch(config, serial=True, builder=ToyBuilder)
    with RunStore.read(config.run_folder) as store:
        names = [entry.name for entry in store.evaluations()]
        assert all(entry.episodes == 8 for entry in store.evaluations())
    assert {"before", "after"} < set(names)


def test_a_worker_that_records_wrong_log_probabilities_stops_the_run(tmp_path: Path) -> None:
    class Liar(ToyPolicy):
        def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
            return [replace(d, logprobs=(d.logprobs[0] - 0.5,)) for d in super().act(prompts)]

    class LiarsBuilder(ToyBuilder):
        def worker_policy(self, number: int) -> Any:
            return Liar(number)

    with pytest.raises(CanaryMismatch):
        launch(toy_config(tmp_path), serial=True, builder=LiarsBuilder)
    with RunStore.read(tmp_path / "toy") as store:
        assert len(store.metrics("version").value) == 0


def test_a_run_folder_that_exists_is_left_alone_and_one_that_does_not_cannot_be_resumed(tmp_path: Path) -> None:
    config = toy_config(tmp_path)
    RunStore.create(config.run_folder, {}, {}).close()
    with pytest.raises(RunExists):
        launch(config, serial=True, builder=ToyBuilder)
    with pytest.raises(RunNotFound):
        launch(config, serial=True, resume=tmp_path / "nothing", builder=ToyBuilder)


def test_a_policy_can_be_evaluated_without_a_run(tmp_path: Path) -> None:
    evaluation = evaluate_policy(toy_config(tmp_path, evaluation={"episodes": 12}), builder=ToyBuilder)
    assert evaluation.episodes == 12
    assert evaluation.invalid == 0
    assert list(tmp_path.iterdir()) == []


def test_two_runs_of_a_vision_language_model_on_simulated_phones_are_equal_byte_for_byte(tmp_path: Path) -> None:
    from distrl.policies.pocket.build import build_model, build_processor

    processor = build_processor(["open", "turn", "on", "settings"])
    build_model(processor, seed=0).save_pretrained(tmp_path / "model")
    processor.save_pretrained(tmp_path / "model")
    runs = []
    for name in ("a", "b"):
        config = toy_config(
            tmp_path / name,
            run={"learner_steps": 1},
            devices={"address": "sim://phone?latency=emulator&popups=0.1", "per_worker": 2},
            policy={"model": str(tmp_path / "model"), "max_new_tokens": 4},
            replay={"warmup": 2},
            learner={"trajectories_per_step": 2},
            evaluation={"episodes": 1},
        )
        assert launch(config, serial=True) == 0
        runs.append(content(config.run_folder))
    assert runs[0] == runs[1]
    assert runs[0]["trajectories"]
