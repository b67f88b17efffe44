"""The files in deploy/ and docs/cluster.md speak of commands and settings that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from distrl.cli.main import app
from distrl.config import Config
from distrl.loading import leaves

ROOT = Path(__file__).parents[2]
FILES = [*sorted((ROOT / "deploy").iterdir()), ROOT / "docs" / "cluster.md"]
SETTINGS = {path for path, *_ in leaves(Config)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_setting_that_is_named_exists(path: Path) -> None:
    named = set(re.findall(r"\b(?:runtime|workers|devices|policy|evaluation|run)\.[a-z_]+\b", path.read_text()))
    files = {"run.sqlite"}
    assert named - SETTINGS - files == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_option_of_the_worker_command_exists(path: Path) -> None:
    worker = get_command(app).commands["worker"]  # type: ignore[attr-defined]
    known = {name for parameter in worker.params for name in parameter.opts}
    lines = [line for line in path.read_text().splitlines() if "distrl worker" in line or "args: [--address" in line]
    used = {option for line in lines for option in re.findall(r"(?<![\w-])--[a-z]+", line)}
    assert used - known == set()


@pytest.mark.parametrize("name", ["ray-up.yaml", "kuberay.yaml"])
def test_it_is_yaml_and_asks_for_a_token(name: str) -> None:
    text = (ROOT / "deploy" / name).read_text()
    assert all(isinstance(document, dict) for document in yaml.safe_load_all(text))
    assert "RAY_AUTH_MODE" in text


def test_an_address_is_needed_to_join() -> None:
    result = CliRunner().invoke(app, ["worker"])
    assert result.exit_code == 2
    assert "--address" in result.output
