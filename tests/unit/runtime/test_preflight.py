"""What is found to be wrong before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from distrl.config import Config, DevicesConfig, EvaluationConfig, PolicyConfig, TasksConfig
from distrl.errors import CheckpointError, CorruptData, DistrlError, ModelNotFound, UnknownName
from distrl.runtime.preflight import CHECKSUMS, check, newest_model, render_phone, seal, verify


@pytest.fixture
def model(tmp_path) -> Path:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    return tmp_path / "model"


def test_a_config_whose_names_all_exist_passes(model):
    check(Config(policy=PolicyConfig(model=str(model))))


@pytest.mark.parametrize(
    ("config", "error", "message"),
    [
        (Config(tasks=TasksConfig(suite="genral")), UnknownName, "no suite 'genral'. Did you mean 'general'"),
        (Config(evaluation=EvaluationConfig(split="test-app")), DistrlError, "test-app"),
        (Config(devices=DevicesConfig(address="simm://phone")), UnknownName, "Did you mean 'sim'"),
        (Config(devices=DevicesConfig(address="sim://phone?latency=emulater")), UnknownName, "'emulator'"),
        (Config(policy=PolicyConfig(model="no/such/folder")), ModelNotFound, "no/such/folder"),
    ],
)
def test_a_name_that_does_not_exist_is_found_out(config, error, message):
    with pytest.raises(error) as caught:
        check(config)
    assert message in str(caught.value)


def test_a_simulated_phone_draws():
    screen = render_phone()
    assert screen.image.startswith(b"\xff\xd8")
    assert screen.elements


def test_a_sealed_model_is_verified(model):
    seal(model)
    verify(model)


def test_a_card_may_be_edited_without_breaking_the_seal(model):
    (model / "README.md").write_text("a card")
    seal(model)
    (model / "README.md").write_text("a better card")
    verify(model)


def test_a_changed_file_is_refused(model):
    seal(model)
    (model / "config.json").write_text('{"changed": true}')
    with pytest.raises(CorruptData, match="config.json"):
        verify(model)


def test_a_model_without_checksums_is_refused(model):
    with pytest.raises(CorruptData, match=CHECKSUMS):
        verify(model)


def test_a_run_without_a_checkpoint_says_so(tmp_path):
    with pytest.raises(CheckpointError, match="no checkpoint yet"):
        newest_model(tmp_path)
