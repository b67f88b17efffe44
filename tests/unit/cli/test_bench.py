"""`distrl bench`, with a bench that measures nothing."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest
from typer.testing import CliRunner

from distrl.cli import bench, main


@pytest.fixture
def made_up(monkeypatch):
    module = ModuleType("distrl.bench.made_up", "How fast nothing happens.\n\nMore words.")
    module.run = lambda steps=3, seed=0: {
        "steps_per_s": [10.0, 30.0, 20.0],
        "by_core": {"one": 1234.5},
        "rows": [{"devices": steps}],
    }
    monkeypatch.setitem(sys.modules, "distrl.bench.made_up", module)
    monkeypatch.setattr(bench, "known_benches", lambda: ["made_up"])


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["bench", *arguments])


@pytest.mark.usefixtures("made_up")
def test_without_a_name_the_benches_are_listed_with_what_they_measure():
    output = invoke().output
    assert "made_up" in output
    assert "How fast nothing happens." in output


@pytest.mark.usefixtures("made_up")
def test_a_figure_is_printed_with_its_spread():
    output = invoke("made_up").output
    assert "20 (10 to 30, n=3)" in output
    assert "by_core.one" in output


@pytest.mark.usefixtures("made_up")
def test_the_json_holds_figures_command_versions_hardware_and_date(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["/somewhere/distrl", "bench", "made_up", "steps=7"])
    result = invoke("made_up", "steps=7", "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["figures"]["rows"] == [{"devices": 7}]
    assert record["command"] == ["distrl", "bench", "made_up", "steps=7"]
    assert {"libraries", "hardware", "date", "python", "code"} <= record.keys()


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["made_upp"], "There is no bench 'made_upp'. Did you mean 'made_up'?"),
        (["made_up", "stepz=3"], "Did you mean 'steps'?"),
        (["made_up", "steps=many"], "steps is 'many', but it must be like its default, 3."),
        (["made_up", "--json", "no/such/folder/x.json"], "does not exist"),
    ],
)
def test_what_cannot_be_measured_is_explained(arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_every_bench_that_ships_says_what_it_measures_and_can_be_run():
    for name in bench.known_benches():
        module = bench.load(name)
        assert bench.describe(module)
        assert callable(module.run)
