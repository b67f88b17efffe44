"""The command as a whole: what it imports, what it says, how it exits."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from distrl.cli import main, train
from distrl.errors import DistrlError

COMMANDS = ("train", "eval", "sft", "doctor", "bench", "replay", "config", "phone")


def invoke(*arguments: str):
    return CliRunner().invoke(main.app, list(arguments))


def test_importing_the_command_line_leaves_heavy_libraries_alone():
    heavy = "{'torch', 'ray', 'transformers', 'sqlite3', 'PIL', 'tensorboardX'}"
    code = f"import sys, distrl.cli.main; print(sorted({heavy} & set(sys.modules)))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"


def test_help_names_every_command():
    text = invoke("--help").output
    assert all(command in text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command):
    result = invoke(command, "--help")
    assert result.exit_code == 0
    assert "Usage" in result.output


def test_version_is_printed():
    assert invoke("--version").output.strip() == main.distrl.__version__


def test_an_error_of_ours_is_a_message_without_a_traceback(monkeypatch):
    def fail(*_):
        raise DistrlError("the phone is [gone]; plug it in")

    monkeypatch.setattr(train, "fresh", fail)
    result = invoke("train")
    assert result.exit_code == 2
    assert "error: the phone is [gone]; plug it in" in result.output
    assert "Traceback" not in result.output


def test_an_unexpected_error_is_not_hidden(monkeypatch):
    def fail(*_):
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(train, "fresh", fail)
    assert isinstance(invoke("train").exception, RuntimeError)


def test_ctrl_c_exits_as_shells_expect(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "fresh", interrupt)
    assert invoke("train").exit_code == 130
