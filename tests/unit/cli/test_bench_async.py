"""The command `distrl bench async`, with runs on the virtual clock."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from distrl.bench.asynchrony import campaign, fairness
from distrl.bench.asynchrony.trial import play
from distrl.cli import main
from distrl.runtime.clock import run_virtually

FIGURES = {
    "profile", "devices", "async_per_min", "sync_per_min", "ratio", "ratio_ci95", "ceiling", "achieved",
    "busy_fraction", "lag_p50", "lag_p95",
}  # fmt: skip


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(
        campaign, "run_trial", lambda trial, folder, s: run_virtually(lambda loop: play(trial, folder, s))
    )
    monkeypatch.setattr(fairness, "VERSIONS", 16)


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["bench", "async", *arguments], env={"COLUMNS": "200"})


@pytest.mark.slow
def test_figures_go_to_the_screen_and_with_their_provenance_into_the_file(tmp_path):
    file = tmp_path / "async.json"
    few = ("--devices", "2,3", "--profiles", "two-speed", "--repeats", "2", "--minutes", "0.2")
    result = invoke(*few, "--json", str(file))
    assert result.exit_code == 0, result.output
    assert "two-speed" in result.output
    record = json.loads(file.read_text())
    assert [(row["profile"], row["devices"]) for row in record["rows"]] == [("two-speed", 2), ("two-speed", 3)]
    assert all(row.keys() >= FIGURES for row in record["rows"])
    assert all(len(row["repeats"]["async_per_min"]) == 2 for row in record["rows"])
    assert {"command", "versions", "hardware", "date"} <= record.keys()
    assert {row["max_lag"] for row in record["fairness"]} == {1, 4}
    planned = CliRunner().invoke(main.app, ["plan", "--check", str(file)])
    assert "predicted/min" in planned.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--profiles", "papr"), "Did you mean 'paper'?"),
        (("--devices", "eight"), "such as 8,32"),
        (("--json", "nowhere/at/all.json"), "does not exist"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_played(arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.output


def test_it_is_listed_among_the_benches():
    assert "Trajectories per minute, asynchronous against" in CliRunner().invoke(main.app, ["bench"]).output
