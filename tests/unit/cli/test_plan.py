from __future__ import annotations

import json

import pytest
from toy import toy_config
from typer.testing import CliRunner

from distrl.cli import main
from distrl.runtime import launch

NUMBERS = ("--reset-s", "50", "--action-s", "20", "--think-s", "0.5", "--steps", "9")


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["plan", *arguments], env={"COLUMNS": "200"})


def test_numbers_given_are_enough_for_a_million_devices(tmp_path):
    result = invoke(*NUMBERS, "--learner-s", "120", "--json", str(tmp_path / "plan.json"))
    assert result.exit_code == 0, result.output
    assert "1,000,000" in result.output
    assert "First the learner saturates, at 16 devices." in result.output
    record = json.loads((tmp_path / "plan.json").read_text())
    assert record["rows"][0]["per_min"] == pytest.approx(8 * 60 / 234.5)
    assert record["site"]["network_mbit"] is None


def test_a_folder_of_the_json_that_is_missing_is_said_first(tmp_path):
    result = invoke(*NUMBERS, "--json", str(tmp_path / "gone" / "plan.json"))
    assert result.exit_code == 2
    assert "make it first" in result.output
    assert "saturates" not in result.output


def test_missing_numbers_are_named():
    result = invoke("--reset-s", "1")
    assert result.exit_code == 2
    assert "--action-s, --think-s, --steps" in result.output


def test_fleets_that_are_no_numbers_are_refused():
    assert "such as 8,1000" in invoke(*NUMBERS, "--devices", "8,many").output


def test_a_run_folder_is_enough_too_and_numbers_given_replace_its_own(tmp_path):
    from toy import ToyBuilder

    config = toy_config(tmp_path, evaluation={"before": False, "after": False})
    assert launch(config, serial=True, builder=ToyBuilder) == 0
    result = invoke(str(config.run_folder), "--devices", "3", "--json", str(tmp_path / "a.json"))
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["latencies"]["steps"] > 1.0
    assert record["latencies"]["reset_s"] > 0.0
    assert record["site"]["trajectories_per_step"] == 4.0
    invoke(str(config.run_folder), "--devices", "3", "--action-s", "100", "--json", str(tmp_path / "b.json"))
    assert json.loads((tmp_path / "b.json").read_text())["latencies"]["action_s"] == 100.0


def bench_file(tmp_path, per_min):
    parts = {"steps": 9.0, "reset_s": 1.0, "action_s": 1.0, "think_s": 0.0, "between_s": 0.0, "learner_s": 1.0}
    rows = [
        {"profile": "paper", "devices": devices, "async_per_min": rate, "latencies": parts}
        for devices, rate in ((8, 48.0), (32, per_min))
    ]
    file = tmp_path / "async.json"
    file.write_text(json.dumps({"rows": rows}))
    return str(file)


def test_a_bench_within_a_tenth_passes_and_one_beyond_it_fails(tmp_path):
    good = invoke("--check", bench_file(tmp_path, 180.0))
    assert good.exit_code == 0, good.output
    assert "Within 10 %" in good.output
    bad = invoke("--check", bench_file(tmp_path, 120.0))
    assert bad.exit_code == 1
    assert "paper at 32 devices, by +60.0 %" in bad.output


def test_a_file_that_is_no_bench_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("[]")
    result = invoke("--check", str(tmp_path / "x.json"))
    assert result.exit_code == 2
    assert "bench async" in result.output
