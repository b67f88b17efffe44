"""`distrl sft`: what it hands to the recipe, and what it refuses."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from distrl.cli import main
from distrl.imitation import sft
from distrl.runtime.preflight import verify


@pytest.fixture
def recipes(tmp_path, monkeypatch) -> list[sft.Recipe]:
    made: list[sft.Recipe] = []

    def make_pocket(folder, recipe, say, start):
        made.append(recipe)
        folder.mkdir()
        (folder / "config.json").write_text("{}")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sft, "make_pocket", make_pocket)
    return made


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["sft", *arguments])


def test_amounts_reach_the_recipe_and_the_result_is_sealed(recipes, tmp_path):
    result = invoke("model", "walks=20", "imitate_rate=1e-3", "suites=general")
    assert result.exit_code == 0, result.output
    assert recipes == [sft.Recipe(walks=20, imitate_rate=1e-3, suites=("general",))]
    verify(tmp_path / "model")


def test_a_folder_that_holds_something_is_left_alone(recipes, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "precious").touch()
    assert invoke("model").exit_code == 2
    assert not recipes


def test_an_unknown_amount_names_the_nearest_one(recipes):
    result = invoke("model", "walk=3")
    assert result.exit_code == 2
    assert "Did you mean 'walks'?" in result.output
