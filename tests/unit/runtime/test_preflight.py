"""What is found to be wrong before anything starts."""

from __future__ import annotations

import shutil
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from distrl.config import Config, DevicesConfig, EvaluationConfig, PolicyConfig, RunConfig, RuntimeConfig, TasksConfig
from distrl.errors import (
    CheckpointError,
    ConfigError,
    CorruptData,
    DistrlError,
    ModelNotFound,
    PortTaken,
    StorageFull,
    UnknownName,
)
from distrl.runtime.preflight import (
    CHECKSUMS,
    check,
    check_machine,
    check_virtual_time,
    newest_model,
    render_phone,
    seal,
    verify,
)


@pytest.fixture
def model(tmp_path) -> Path:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    return tmp_path / "model"


def test_a_config_whose_names_all_exist_passes(model, monkeypatch):
    monkeypatch.chdir(model)
    check(Config(policy=PolicyConfig(model=str(model))))
    assert [path.name for path in model.iterdir()] == ["config.json"], "a check leaves nothing behind"


def test_grpo_without_groups_is_found_out_before_it_learns_nothing(model):
    grpo = Config.model_validate({"policy": {"model": str(model)}, "algorithm": {"name": "grpo"}})
    with pytest.raises(ConfigError, match=r"tasks\.group_size"):
        check(grpo)
    check(grpo.model_copy(update={"tasks": TasksConfig(group_size=8)}))


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


def test_a_clock_that_jumps_is_not_for_phones_that_take_their_time():
    check_virtual_time(Config())
    with pytest.raises(ConfigError, match="--serial"):
        check_virtual_time(Config(devices=DevicesConfig(address="adb://emulator-5554")))
    with pytest.raises(ConfigError, match="--serial"):
        check_virtual_time(Config(devices=DevicesConfig(address="avd://Pixel_7")))


def test_a_port_that_is_taken_is_named_and_nothing_is_left_behind(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        config = Config(run=RunConfig(folder=tmp_path / "runs"), runtime=RuntimeConfig(port=port))
        with pytest.raises(PortTaken, match=f"Port {port} .* another program.*runtime.port"):
            check_machine(config)
        check_machine(config.model_copy(update={"runtime": RuntimeConfig(port=port, address="10.0.0.1:6379")}))
    check_machine(config)
    assert not list(tmp_path.iterdir())


def test_a_disk_without_room_is_named_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=150 * 2**20))
    with pytest.raises(StorageFull, match="150 MB free.*asks for 200.*Free some space"):
        check_machine(Config(run=RunConfig(folder=tmp_path / "runs")))
    check_machine(Config(run=RunConfig(folder=tmp_path / "runs", minimum_free_mb=100)))
    assert not list(tmp_path.iterdir())


def test_a_simulated_phone_draws():
    screen = render_phone()
    assert screen.image.startswith(b"\xff\xd8")
    assert screen.elements


def test_a_card_may_be_edited_without_breaking_the_seal_and_no_other_file(model):
    (model / "README.md").write_text("a card")
    seal(model)
    (model / "README.md").write_text("a better card")
    verify(model)
    (model / "config.json").write_text('{"changed": true}')
    with pytest.raises(CorruptData, match="config.json"):
        verify(model)


def test_a_model_without_checksums_is_refused(model):
    with pytest.raises(CorruptData, match=CHECKSUMS):
        verify(model)


def test_a_run_without_a_checkpoint_says_so(tmp_path):
    with pytest.raises(CheckpointError, match="first checkpoint is still to come"):
        newest_model(tmp_path, print)


def test_an_address_that_this_machine_does_not_have_is_named_before_anything_starts(tmp_path):
    config = Config.model_validate(
        {"run": {"folder": str(tmp_path), "minimum_free_mb": 0}, "runtime": {"listen": "203.0.113.77"}}
    )
    with pytest.raises(ConfigError, match="203.0.113.77 is no address of this machine"):
        check_machine(config)


# --- task files


@pytest.fixture
def filed(tmp_path, model):
    """A config whose tasks come from this text."""

    def make(text: str, address: str = "sim://phone", **judge: str) -> Config:
        (tmp_path / "mine.yaml").write_text(text)
        return Config.model_validate(
            {
                "policy": {"model": str(model)},
                "tasks": {"suite": str(tmp_path / "mine.yaml"), "split": "all"},
                "evaluation": {"split": "all"},
                "devices": {"address": address},
                "judge": judge,
            }
        )

    return make


def test_rules_cannot_judge_a_task_without_one_and_it_is_said_what_to_set_instead(filed):
    half = "- {goal: a, judge: {answer: b}}\n- goal: c d\n"
    with pytest.raises(
        ConfigError, match=r"1 of 2 tasks in .*mine.yaml have no rule, 'c-d' .* judge.kind=vlm, or chain"
    ):
        check(filed(half))
    check(filed(half, kind="chain", model="m", url="http://127.0.0.1:9/v1"))
    check(filed("- {goal: a, judge: {answer: b}}\n"))


def test_rules_that_read_the_screen_need_the_tree(filed):
    shows = "- {goal: a, judge: {shows: b}}\n"
    check(filed(shows))
    check(filed(shows, "adb://1.2.3.4:5?settle_s=2&tree=1"))
    with pytest.raises(ConfigError, match=r"Add tree=1 to devices.address, or set judge.kind=chain"):
        check(filed(shows, "adb://1.2.3.4:5"))


def test_a_split_that_a_file_does_not_have_is_found_before_anything_starts(filed):
    config = filed("- {goal: a, split: train, judge: {answer: b}}\n")
    with pytest.raises(ConfigError, match="no task in the split 'test-instances'"):
        check(config.model_copy(update={"evaluation": EvaluationConfig(split="test-instances")}))
