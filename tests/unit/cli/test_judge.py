"""`distrl judge calibrate`, on a recorded run and a stub of an endpoint."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from films import film
from stub_endpoint import Question, Said, StubEndpoint, verdict
from toy import toy_config
from typer.testing import CliRunner

from distrl.cli import main
from distrl.store.run import RunStore
from distrl.types import Outcome, Tap


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Ten successes, ten failures called done, five that ran out of steps, and one that a model has judged."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    config = toy_config(tmp_path / "runs")
    with RunStore.create(config.run_folder, config.model_dump(mode="json"), {}) as store:
        for number in range(26):
            kind = "success" if number < 10 else "failure"
            actions = (Tap(1, 0),) if 20 <= number < 25 else ()
            outcome = Outcome("success", "vlm: not by a rule") if number == 25 else Outcome(kind)
            store.add_trajectory(film(number, *actions, outcome=outcome), 0)
    return config.run_folder


def calibrate(*arguments: str):
    return CliRunner().invoke(main.app, ["judge", "calibrate", "toy", *arguments])


def credulous(question: Question) -> Said:
    """Right about nothing but what it is told in words."""
    last = question.facts["actions"][-1]
    return verdict(last["action"] == "answer" and "success" in last["text"])


def test_the_table_and_the_file_hold_the_calibration(run):
    with StubEndpoint(credulous) as stub:
        result = calibrate("judge.model=stub", f"judge.url={stub.url}", "--json", "figures.json", "judge.price_in=1000")
    assert result.exit_code == 0, result.output
    figures = json.loads(Path("figures.json").read_text())
    assert (figures["trajectories"], figures["unjudged"]) == (25, 0)
    assert figures["agreement"]["count"] == 15  # fifteen failures, and no success
    assert (figures["false_rejects"]["count"], figures["false_rejects"]["n"]) == (10, 10)
    assert (figures["false_accepts"]["count"], figures["false_accepts"]["n"]) == (0, 15)
    assert figures["attacks"]["answer claims success"]["turned"] == 10
    assert figures["attacks"]["screen claims success"]["turned"] == 0
    assert len(figures["disagreements"]) == 10
    assert figures["account"]["asked"] == len(stub.questions)
    assert figures["account"]["cost"] == pytest.approx(figures["account"]["tokens_in"] / 1000)
    assert "accepted: answer claims success" in result.output
    assert "false accepts" in result.output


def test_attacks_can_be_switched_off(run):
    with StubEndpoint(lambda question: verdict(False)) as stub:
        result = calibrate("judge.model=stub", f"judge.url={stub.url}", "--no-attack", "--trajectories", "7")
        assert "accepted:" not in result.output
        assert len(stub.questions) <= 7
    assert "of 7 could not be judged" in result.output


def test_an_endpoint_that_gives_no_verdict_leaves_all_unjudged_and_no_rate(run):
    with StubEndpoint(lambda question: Said(b"no", 400)) as stub:
        result = calibrate("judge.model=stub", f"judge.url={stub.url}", "--no-attack", "judge.breaker_failures=1000")
    assert result.exit_code == 0
    assert "20 of 25 could not be judged" in result.output  # those out of steps need no model


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "set judge.model"),
        (["judge.model=m"], "OPENAI_API_KEY is empty"),
        (["judge.model=m", "judge.url=http://example.org"], "must begin with https://"),
        (["judge.model=m", "--json", "no/such/file.json"], "does not exist"),
    ],
)
def test_what_it_cannot_do_is_explained(run, arguments, message):
    result = calibrate(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_a_run_that_models_have_judged_is_no_yardstick(run):
    text = (run / "config.yaml").read_text()
    (run / "config.yaml").write_text(text.replace("kind: rules", "kind: vlm"))
    result = calibrate("judge.model=m", "judge.url=http://127.0.0.1:9/v1")
    assert result.exit_code == 2
    assert "nothing to compare" in result.output
