"""`distrl replay`: which trajectory is asked for, and what is said when it cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from distrl.cli import main


@pytest.fixture
def asked(tmp_path, monkeypatch) -> list[tuple]:
    calls: list[tuple] = []

    def write_replay(folder: Path, selection: str, out: Path | None) -> Path:
        calls.append((folder, selection, out))
        return out or folder / "replay.html"

    monkeypatch.chdir(tmp_path)
    Path("runs/mine").mkdir(parents=True)
    Path("runs/mine/config.yaml").write_text("")
    monkeypatch.setattr("distrl.evaluation.report.write_replay", write_replay)
    return calls


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, ["replay", *arguments])


@pytest.mark.parametrize(
    ("arguments", "selection"),
    [([], "latest"), (["--success"], "success"), (["--failure"], "failure"), (["--trajectory", "3fa"], "3fa")],
)
def test_the_page_is_written_and_its_path_printed(asked, arguments, selection):
    result = invoke("mine", *arguments)
    assert result.output.strip() == "runs/mine/replay.html"
    assert asked == [(Path("runs/mine"), selection, None)]


def test_the_page_may_go_elsewhere(asked):
    assert invoke("mine", "--out", "film.html").output.strip() == "film.html"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mine", "--success", "--failure"], "Choose one of"),
        (["mein"], "There is no run 'mein'. Did you mean 'mine'?"),
        (["mine", "--out", "no/such/film.html"], "does not exist"),
    ],
)
def test_what_cannot_be_shown_is_explained(asked, arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())
    assert not asked
