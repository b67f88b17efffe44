"""docs/configuration.md stays true."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel
from typer.testing import CliRunner

from distrl.cli.configuration_page import page
from distrl.cli.main import app
from distrl.config import Config, load_config, to_yaml
from distrl.loading import choices, leaves
from distrl.registry import DEVICES, SUITES

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"


def described(owner: type[BaseModel], field: str) -> bool:
    """Whether the class or one that it comes from says what the field means."""
    classes = [each for each in owner.__mro__ if issubclass(each, BaseModel)]
    return any(each.model_fields[field].description for each in classes if field in each.model_fields)


def test_the_page_is_what_the_settings_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "Run `make docs`."


def test_every_setting_is_on_the_page_and_documented():
    text = page()
    for path, owner, field in leaves(Config):
        assert f"`{path}`" in text
        assert described(owner, field), f"{path} has no docstring"


def test_the_page_holds_every_class_of_settings_under_its_own_heading():
    headings = [line for line in page().splitlines() if line.startswith("### ")]
    for section, choice in choices(Config).items():
        for name, model in choice.models().items():
            assert sum(f"`{section}.{choice.key}={name}`" in heading for heading in headings) == 1
            for field in model.model_fields:
                assert f"| `{section}.{field}` |" in page()
                assert described(model, field), f"{field} of {name} has no docstring"
    assert [f"### `tasks.suite={name}`" for name in SUITES.names()] == [one for one in headings if "suite" in one]


def test_the_page_holds_every_option_that_a_device_takes_in_its_url():
    parts = page().split("### ")
    for scheme in DEVICES.names():
        (part,) = [part for part in parts if part.startswith(f"`devices.address={scheme}://")]
        options = DEVICES.load(scheme)
        for name in options.options:
            assert f"| `{name}` |" in part
            assert options.__pydantic_fields__[name].description, f"{name} of {scheme}:// has no docstring"


def test_the_command_prints_a_config_with_its_defaults():
    result = CliRunner().invoke(app, ["config", "quickstart", "run.seed=4"])
    assert result.output.startswith(to_yaml(load_config("quickstart", ["run.seed=4"])))


def test_the_command_names_what_else_may_be_chosen_and_what_it_takes_in_comments(tmp_path):
    result = CliRunner().invoke(app, ["config", "quickstart", "algorithm.name=grpo"])
    _, _, rest = result.output.partition("# What may be chosen as well")
    assert all(line.startswith("#") for line in rest.splitlines()[1:])
    assert "algorithm.name=digirl: outcome_decay, instruction_filter" in rest
    assert "algorithm.name=grpo" not in rest
    assert "judge.kind=vlm: url, model" in rest
    assert "devices.address=sim://…: latency, popups, scale" in rest
    (tmp_path / "mine.yaml").write_text(result.output, encoding="utf-8")
    assert load_config(tmp_path / "mine.yaml") == load_config("quickstart", ["algorithm.name=grpo"])


def test_the_command_prints_the_page():
    assert CliRunner().invoke(app, ["config", "--markdown"]).output == page()
