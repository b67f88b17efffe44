"""`distrl bench learning` before anything is started: what it says and what it refuses."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from distrl.bench.learning.record import Record
from distrl.cli import main


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["bench", "learning", *arguments])


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_dry_run_lists_the_methods_and_how_long_they_take(tmp_path):
    result = invoke("--dry-run", "--methods", "a_ride,grpo", "--seeds", "3", "--minutes", "5", "--parallel", "2")
    assert result.exit_code == 0, result.output
    assert "grpo  algorithm.name=grpo tasks.group_size=8" in result.output
    assert "6 runs, 2 side by side: 15 minutes of training" in result.output
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--methods", "a_rid"], "There is no method 'a_rid'. Did you mean 'a_ride'?"),
        (["--suite", "generall"], "Did you mean 'general'?"),
        (["--profile", "emulater"], "There is no latency model 'emulater'. Did you mean 'emulator'?"),
        (["--json", "no/such/x.json"], "does not exist; make it first"),
        (["learner.rate=1"], "There is no setting 'learner.rate'."),
        (["policy.model=nowhere"], "is no Hugging Face model folder"),
    ],
)
def test_what_would_fail_hours_later_is_said_at_once(arguments, message, tmp_path):
    result = invoke("--methods", "a_ride", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not list(tmp_path.iterdir())


def test_a_race_without_any_result_says_where_the_logs_are_and_still_writes_why(tmp_path, monkeypatch):
    made = {"code": "", "python": "", "libraries": {}, "hardware": {"cpus": 2, "gpus": []}, "date": "2026-01-01"}

    def run(plan, parallel, say):
        plan.folder.mkdir(parents=True)
        return [Record(entry.method, entry.seed, {}, made, failed="no phone") for entry in plan.entries()]

    monkeypatch.setattr("distrl.bench.learning.run", run)
    result = invoke("--methods", "a_ride", "--seeds", "1", "--json", "out.json", "--plots", "plots")
    assert result.exit_code == 2
    assert "Every run failed; the logs are in runs/learning-general/logs" in " ".join(result.output.split())
    assert json.loads((tmp_path / "out.json").read_text())["methods"]["a_ride"]["failed"] == {"0": "no phone"}
