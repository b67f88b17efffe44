import errno
import json
import os

import numpy as np
import pytest
import torch

from distrl.errors import CheckpointError, StorageFull
from distrl.learner import checkpoint


def trained(toy, steps=3, **settings):
    learner = toy.learner(**settings)
    go_on(toy, learner, steps)
    return learner


def go_on(toy, learner, steps):
    for i in range(steps):
        won = toy.scripted(f"w{i}", toy.RIGHT, "success", logprob=-1.2)
        lost = toy.scripted(f"l{i}", (1, 1, 1), "failure", logprob=-1.3)
        learner.step(toy.uniform([won, lost]), toy.source)


def test_a_restored_learner_goes_on_exactly_as_the_one_that_never_stopped(toy, tmp_path):
    learner = trained(toy)
    replay = {"ids": ["a"], "priorities": [0.5]}
    path = checkpoint.save(tmp_path, learner, replay, {"trajectories": 12})
    expected_draw, expected_noise = learner.rng.random(), torch.rand(3)
    go_on(toy, learner, 4)

    restored = toy.learner(toy.TablePolicy(seed=5))
    assert checkpoint.load(path, restored) == {"trajectories": 12}
    assert checkpoint.replay_state(path) == replay
    assert restored.version == 3
    assert restored.rng.random() == expected_draw
    assert torch.equal(torch.rand(3), expected_noise)
    go_on(toy, restored, 4)
    for name, array in learner.policy.weights().items():
        np.testing.assert_array_equal(restored.policy.weights()[name], array)
    assert restored.version == learner.version


def test_a_learner_that_has_taken_no_step_can_be_saved(toy, tmp_path):
    path = checkpoint.save(tmp_path, toy.learner(), {}, {})
    restored = trained(toy)
    checkpoint.load(path, restored)
    assert restored.version == 0
    np.testing.assert_array_equal(restored.policy.weights()["logits"], toy.TablePolicy().weights()["logits"])


def test_latest_is_the_highest_step_and_only_so_many_are_kept(toy, tmp_path):
    learner = toy.learner(learner={"keep_checkpoints": 2})
    for _ in range(12):
        go_on(toy, learner, 1)
        checkpoint.save(tmp_path, learner, {}, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["11", "12"]
    assert checkpoint.latest(tmp_path) == tmp_path / "12"


def test_saving_one_step_twice_keeps_both_and_the_second_counts(toy, tmp_path):
    learner = trained(toy)
    checkpoint.save(tmp_path, learner, {}, {"n": 1})
    second = checkpoint.save(tmp_path, learner, {}, {"n": 2})
    assert checkpoint.latest(tmp_path) == second
    assert checkpoint.load(second, learner) == {"n": 2}


def test_no_folder_means_no_checkpoint(tmp_path):
    assert checkpoint.latest(tmp_path / "nowhere") is None


@pytest.mark.parametrize("file", ["weights.safetensors", "optimiser.safetensors", "state.json", "model/config.json"])
@pytest.mark.parametrize("damage", ["flip", "truncate", "remove"])
def test_any_damaged_file_is_named_with_the_older_checkpoint_to_use(toy, tmp_path, file, damage):
    learner = trained(toy)
    older = checkpoint.save(tmp_path, learner, {}, {})
    go_on(toy, learner, 1)
    newer = checkpoint.save(tmp_path, learner, {}, {})
    target = newer / file
    data = target.read_bytes()
    if damage == "remove":
        target.unlink()
    else:
        target.write_bytes(data[:-1] + (bytes([data[-1] ^ 1]) if damage == "flip" else b""))
    with pytest.raises(CheckpointError, match=rf"{file}.*{older}"):
        checkpoint.load(newer, toy.learner())
    warnings = []
    assert checkpoint.latest(tmp_path, warnings.append) == older
    assert len(warnings) == 1
    assert file in warnings[0]


def test_a_file_that_the_manifest_does_not_name_is_not_trusted(toy, tmp_path):
    path = checkpoint.save(tmp_path, trained(toy), {}, {})
    (path / "model" / "pytorch_model.bin").write_bytes(b"\x80\x04")
    with pytest.raises(CheckpointError, match="pytorch_model.bin"):
        checkpoint.verify(path)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}'])
def test_when_every_checkpoint_is_damaged_a_resume_is_refused(toy, tmp_path, content):
    path = checkpoint.save(tmp_path, trained(toy), {}, {})
    (path / "manifest.json").write_text(content)
    with pytest.raises(CheckpointError, match="trajectories are untouched.*move .* away"):
        checkpoint.latest(tmp_path)
    with pytest.raises(CheckpointError, match="no older checkpoint"):
        checkpoint.load(path, toy.learner())


def test_a_learner_killed_while_writing_leaves_the_previous_checkpoint(toy, tmp_path, monkeypatch):
    learner = trained(toy)
    first = checkpoint.save(tmp_path, learner, {}, {})
    go_on(toy, learner, 1)

    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    monkeypatch.setattr(os, "rename", die)
    monkeypatch.setattr(checkpoint.shutil, "rmtree", lambda *_, **__: None)  # the dead tidy nothing up
    with pytest.raises(Killed):
        checkpoint.save(tmp_path, learner, {}, {})
    monkeypatch.undo()
    assert len(list(tmp_path.iterdir())) == 2
    assert checkpoint.latest(tmp_path) == first
    checkpoint.save(tmp_path, learner, {}, {})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["3", "4"]


def test_everything_is_synced_before_it_gets_its_name(toy, tmp_path, monkeypatch):
    learner, synced, renamed = trained(toy), [], []
    sync, rename = checkpoint._sync, os.rename
    monkeypatch.setattr(checkpoint, "_sync", lambda path: synced.append(path.name) or sync(path))
    monkeypatch.setattr(os, "rename", lambda a, b: renamed.append(list(synced)) or rename(a, b))
    path = checkpoint.save(tmp_path, learner, {}, {})
    named = {os.path.basename(file) for file in json.loads((path / "manifest.json").read_text())["sha256"]}
    assert named | {"manifest.json", "model"} <= set(renamed[0])
    assert synced[-1] == tmp_path.name


def test_a_full_disk_raises_storage_full_and_keeps_older_checkpoints(toy, tmp_path, monkeypatch):
    learner = trained(toy)
    first = checkpoint.save(tmp_path, learner, {}, {})

    def full(folder):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(learner.policy, "save", full)
    with pytest.raises(StorageFull, match="free space"):
        checkpoint.save(tmp_path, learner, {}, {})
    assert list(tmp_path.iterdir()) == [first]


def test_nothing_in_a_checkpoint_is_a_pickle(toy, tmp_path):
    path = checkpoint.save(tmp_path, trained(toy), {}, {})
    assert {p.suffix for p in path.rglob("*") if p.is_file()} == {".json", ".safetensors"}
