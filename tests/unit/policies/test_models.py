"""A model folder is data: what could run code is not loaded, and what is broken is named."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from distrl.errors import ModelNotFound
from distrl.policies.models import model_folder, open_model, weights_digest
from distrl.policies.pocket.build import build_model, build_processor


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    processor = build_processor(["open", "settings"])
    build_model(processor, seed=0).save_pretrained(tmp_path / "model")
    processor.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


class Bomb:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> object:
        return Path.touch, (self.mark,)


def test_pickled_weights_are_refused_and_not_opened(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"weight": Bomb(tmp_path / "boom")}))
    with pytest.raises(ModelNotFound, match="must be safetensors"):
        open_model(folder)
    assert not (tmp_path / "boom").exists()


def test_code_in_a_model_folder_is_not_run(folder: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "evil",
        "auto_map": {"AutoConfig": "evil.Evil", "AutoModelForImageTextToText": "evil.Evil"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "evil.py").write_text(f"import pathlib; pathlib.Path({str(tmp_path / 'boom')!r}).touch()")
    with pytest.raises(ModelNotFound, match="code of its own"):
        open_model(folder)
    assert not (tmp_path / "boom").exists()


def test_torn_weights_are_named(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelNotFound, match=str(folder)):
        open_model(folder)


def test_a_folder_without_a_model_says_what_belongs_there(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="config.json, weights and processor files"):
        model_folder(tmp_path)


def test_other_weights_under_the_same_name_have_another_digest(tmp_path: Path) -> None:
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_bytes(b"{}")
    before = weights_digest(tmp_path)
    assert weights_digest(tmp_path) == before
    (tmp_path / "model.safetensors").write_bytes(b"{ }")
    assert weights_digest(tmp_path) != before
