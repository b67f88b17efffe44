"""`distrl tasks`."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from distrl.cli import main


def told(*arguments: str):
    return CliRunner().invoke(main.app, ["tasks", *arguments])


def test_a_file_is_listed_with_its_splits_judges_and_five_examples(tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "- {goal: 'Open {app}', name: open, params: {app: [a, b, c, d, e, f]}}\n"
        "- {goal: '[red]Sum[/red]', name: sum, judge: {answer: '3'}, split: test-templates}\n"
    )
    found = json.loads(told(str(tmp_path / "mine.yaml"), "--json").output)
    assert sum(found["templates"]["open"].values()) == 6
    assert found["templates"]["sum"] == {"test-templates": 1}
    assert found["judged"] == {"open": "a model", "sum": "answer"}
    assert len(found["examples"]) == 5
    output = told(str(tmp_path / "mine.yaml"), "--only", "open").output
    assert "train" in output
    assert "for example:" in output
    assert "sum" not in output


def test_what_a_goal_writes_is_shown_as_it_is(tmp_path):
    (tmp_path / "list.txt").write_text("[red]Open[/red] it\n[bold]Close\n")
    output = told(str(tmp_path / "list.txt")).output
    assert "[red]Open[/red] it" in output or "[bold]Close" in output


def test_a_suite_that_ships_is_listed_too():
    output = told("webshop").output
    assert "its own rule" in output
    assert "test-apps" in output


def test_what_is_wrong_with_a_file_is_said_and_fails(tmp_path):
    (tmp_path / "bad.yaml").write_text("- {goal: a, link: 'tel:1'}\n")
    answer = told(str(tmp_path / "bad.yaml"))
    assert answer.exit_code == 2
    assert "line 1: link is 'tel:1'" in " ".join(answer.output.split())
    assert told("genral").exit_code == 2
