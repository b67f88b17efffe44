"""`distrl train`, with a runtime that only notes what it was asked to do."""

from __future__ import annotations

import json
import shutil
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from former_config import FORMER
from typer.testing import CliRunner

from distrl.cli import main
from distrl.config import Config, load_config, to_yaml

SUMMARY = {"success_before": 0.4, "success_after": 0.625, "difference_ci95": [0.1, 0.35], "episodes": 128}


class Runtime:
    """A fake `distrl.runtime.launch` that writes the files of a finished run."""

    def __init__(self) -> None:
        self.calls: list[dict] = []

    def launch(self, config: Config, **options) -> int:
        self.calls.append({"config": config, **options})
        config.run_folder.mkdir(parents=True, exist_ok=True)
        (config.run_folder / "config.yaml").write_text(to_yaml(config))
        (config.run_folder / "summary.json").write_text(json.dumps(SUMMARY))
        (config.run_folder / "report.html").write_text("<html>")
        options["progress"].message("a word from the run")
        return 0


@pytest.fixture
def runtime(tmp_path, monkeypatch) -> Runtime:
    fake = Runtime()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("distrl.runtime.launch", fake.launch, raising=False)
    monkeypatch.setattr("distrl.runtime.preflight.check", lambda config: None)
    return fake


def train(*arguments: str):
    return CliRunner().invoke(main.app, ["train", *arguments])


def test_the_default_is_the_quickstart(runtime):
    result = train()
    assert result.exit_code == 0, result.output
    assert runtime.calls[0]["config"] == load_config("quickstart", ["run.name=quickstart"])
    assert (runtime.calls[0]["serial"], runtime.calls[0]["resume"]) == (False, None)


def test_before_after_interval_and_report_are_printed_at_the_end(runtime):
    output = train().output
    for part in ("a word from the run", "40.0%", "62.5%", "+22.5 points", "+10.0 to +35.0", "128 held-out tasks"):
        assert part in output
    assert "runs/quickstart/report.html" in output


def test_an_override_may_stand_where_the_config_would(runtime):
    train("run.seed=9", "run.minutes=3")
    config = runtime.calls[0]["config"]
    assert (config.run.seed, config.run.minutes) == (9, 3.0)


def test_a_second_quickstart_gets_a_folder_of_its_own(runtime):
    train()
    train()
    assert [call["config"].run.name for call in runtime.calls] == ["quickstart", "quickstart-2"]


def test_a_run_folder_that_exists_is_left_alone(runtime):
    train("run.name=mine")
    result = train("run.name=mine")
    assert result.exit_code == 2
    assert "--resume runs/mine" in result.output
    assert "run.name=" in result.output
    assert len(runtime.calls) == 1


@pytest.mark.parametrize("name", ["mine", "runs/mine"])
def test_resume_takes_the_settings_of_the_run(runtime, name):
    train("run.name=mine", "run.seed=5")
    result = train("--resume", name, "run.minutes=30")
    assert result.exit_code == 0, result.output
    config = runtime.calls[1]["config"]
    assert (config.run.seed, config.run.minutes) == (5, 30.0)
    assert runtime.calls[1]["resume"] == config.run_folder == Path("runs/mine")


def test_resume_goes_on_with_a_run_from_before_settings_belonged_to_their_algorithm(runtime):
    Path("runs/old").mkdir(parents=True)
    Path("runs/old/config.yaml").write_text(yaml.safe_dump(FORMER))
    result = train("--resume", "old", "algorithm.priority_failure_weight=0.75")
    assert result.exit_code == 0, result.output
    algorithm = runtime.calls[0]["config"].algorithm.model_dump()
    assert (algorithm["name"], algorithm["ratio_clip"], algorithm["priority_failure_weight"]) == ("a_ride", 1.25, 0.75)


def test_resuming_a_run_that_is_not_there_names_those_that_are(runtime):
    train("run.name=mine")
    result = train("--resume", "mien")
    assert result.exit_code == 2
    assert "Did you mean 'mine'?" in result.output


def test_a_dry_run_prints_the_settings_and_starts_nothing(runtime, tmp_path):
    result = train("--dry-run", "learner.learning_rate=1e-4")
    assert result.exit_code == 0
    assert "learning_rate: 0.0001" in result.output
    assert not runtime.calls
    assert not list(tmp_path.iterdir())


def test_serial_is_passed_on(runtime):
    train("serial", "--serial")
    assert runtime.calls[0]["serial"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["quickstrat"], "Did you mean 'quickstart'?"),
        (["learner.lr=1"], "There is no setting 'learner.lr'"),
        (["workers.count=two"], "workers.count is 'two', but it must be a whole number above 0."),
    ],
)
def test_bad_settings_are_explained_before_anything_starts(runtime, arguments, message):
    result = train(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not runtime.calls


def test_a_taken_port_and_a_full_disk_are_explained_before_anything_starts(runtime, tmp_path, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        taken = train(f"runtime.port={port}")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**20))
    full = train()
    assert (taken.exit_code, full.exit_code) == (2, 2)
    assert f"Port {port} on 127.0.0.1 belongs to another program." in " ".join(taken.output.split())
    assert "1 MB free" in full.output
    assert not runtime.calls
    assert not list(tmp_path.iterdir())
