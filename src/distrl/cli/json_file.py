"""The option `--json FILE` of every command that measures, and writing that file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from distrl.errors import ConfigError

JsonFile = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the figures there.")]


def require_folder(file: Path | None, option: str = "--json") -> None:
    """Check that the output file's folder exists, before hours of work. Raises `ConfigError`."""
    if file and not file.parent.is_dir():
        raise ConfigError(f"The folder of {option} {file} does not exist; make it first.")


def write_figures(figures: Mapping[str, Any], file: Path | None, console: Console, *, indent: int | None = 2) -> None:
    """Write the figures to the file, if there is one, and print its path."""
    if file:
        file.write_text(json.dumps(figures, indent=indent) + "\n", encoding="utf-8")
        console.print(Text(f"written to {file}"), soft_wrap=True)
