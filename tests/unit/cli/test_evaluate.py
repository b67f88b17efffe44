"""`distrl eval`, with made-up episodes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from former_config import FORMER
from typer.testing import CliRunner

from distrl.cli import main
from distrl.config import Config, RunConfig, to_yaml
from distrl.evaluation.evaluate import EpisodeResult, Evaluation

OUTCOMES = {"clock/alarm": ["success", "failure", "success"], "mail/send": ["failure", "invalid"]}


def played() -> Evaluation:
    return Evaluation(
        tuple(
            EpisodeResult(f"{template}/{number}", template, "a goal", outcome, 4, 0)
            for template, outcomes in OUTCOMES.items()
            for number, outcome in enumerate(outcomes)
        )
    )


@pytest.fixture
def asked(tmp_path, monkeypatch) -> list[Config]:
    """The configs that were asked to be evaluated."""
    configs: list[Config] = []

    def evaluate_policy(config: Config, *, progress) -> Evaluation:
        progress.message("playing")
        configs.append(config)
        return played()

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("distrl.runtime.evaluate_policy", evaluate_policy)
    monkeypatch.setattr("distrl.runtime.preflight.check", lambda config: None)
    monkeypatch.setattr("distrl.runtime.preflight.newest_model", lambda run, warn: run / "checkpoints" / "9" / "model")
    return configs


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["eval", *arguments])


def test_success_comes_with_its_interval_invalid_count_and_templates(asked):
    result = invoke("pocket")
    assert result.exit_code == 0, result.output
    assert "success 50.0% (2 of 4), 95 % interval 15.0% to 85.0%; 1 invalid" in result.stdout
    assert [line.split() for line in result.stdout.splitlines()[1:3]] == [
        ["clock/alarm", "2", "3", "67%"],
        ["mail/send", "0", "1", "0%", "1"],
    ]


def test_json_is_alone_on_standard_output(asked):
    answer = json.loads(invoke("pocket", "--json", "--split", "test-apps").stdout)
    assert (answer["success"], answer["episodes"], answer["invalid"]) == (0.5, 4, 1)
    assert answer["split"] == "test-apps"
    assert answer["templates"]["mail/send"]["ci95"][0] == 0.0


def test_options_and_overrides_choose_what_is_played(asked):
    invoke("pocket", "--suite", "webshop", "--split", "train", "--episodes", "7", "evaluation.temperature=0")
    config = asked[0]
    assert (config.policy.model, config.tasks.suite, config.evaluation.split) == ("pocket", "webshop", "train")
    assert (config.evaluation.episodes, config.evaluation.temperature) == (7, 0.0)


def test_a_model_folder_is_played_as_it_is(asked, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text("{}")
    invoke("model")
    assert asked[0].policy.model == "model"


@pytest.mark.parametrize("name", ["mine", "runs/mine"])
def test_a_run_is_played_with_its_settings_and_its_newest_policy(asked, name):
    folder = Path("runs/mine")
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(to_yaml(Config(run=RunConfig(name="mine", seed=11))))
    assert invoke(name).exit_code == 0
    assert asked[0].run.seed == 11
    assert asked[0].policy.model == "runs/mine/checkpoints/9/model"


def test_a_run_from_before_settings_belonged_to_their_algorithm_is_played_as_ever(asked):
    folder = Path("runs/old")
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(FORMER))
    assert invoke("old", "--split", "train").exit_code == 0
    assert (asked[0].run.seed, asked[0].tasks.suite, asked[0].evaluation.split) == (3, "webshop", "train")


def test_what_is_neither_run_nor_model_is_explained(asked):
    result = invoke("poket")
    assert result.exit_code == 2
    assert "neither a run nor a model. Did you mean 'pocket'?" in " ".join(result.output.split())
    assert not asked
