"""`distrl config`: every setting, its value and what it means."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from distrl.cli.configuration_page import alternatives, page
from distrl.cli.train import ConfigArgument, Overrides, split_arguments
from distrl.config import load_config, to_yaml


def config(
    config: ConfigArgument = "quickstart",
    overrides: Overrides = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print docs/configuration.md.")] = False,
) -> None:
    """Print a config with every default filled in and what else it may choose, or the reference of all settings."""
    if markdown:
        typer.echo(page(), nl=False)
        return
    name, changes = split_arguments(config, overrides)
    settings = load_config(name, changes)
    Console().print(Text(to_yaml(settings) + alternatives(settings)), end="", soft_wrap=True)
