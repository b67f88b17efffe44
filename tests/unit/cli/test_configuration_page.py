"""docs/configuration.md stays true."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from distrl.cli.configuration_page import page
from distrl.cli.main import app
from distrl.config import Config, load_config, to_yaml
from distrl.loading import leaves

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def test_the_page_is_what_the_settings_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "Run `make docs`."


def test_every_setting_is_on_the_page_and_documented():
    text = page()
    for path, owner, field in leaves(Config):
        assert f"`{path}`" in text
        assert owner.model_fields[field].description, f"{path} has no docstring"


def test_the_command_prints_a_config_with_its_defaults():
    result = CliRunner().invoke(app, ["config", "quickstart", "run.seed=4"])
    assert result.output == to_yaml(load_config("quickstart", ["run.seed=4"]))


def test_the_command_prints_the_page():
    assert CliRunner().invoke(app, ["config", "--markdown"]).output == page()
