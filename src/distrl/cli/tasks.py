"""`distrl tasks`: lists and validates a suite or a task file."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from distrl.runtime.task_files import Contents

SPLITS = ("train", "test-instances", "test-templates", "test-apps")


def tasks(
    suite: Annotated[str, typer.Argument(metavar="SUITE|FILE", help="general, webshop, or a file .txt or .yaml.")],
    only: Annotated[list[str] | None, typer.Option(help="Templates whose name begins so; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
) -> None:
    """List the templates of a suite or task file, their goals per split, and a few examples. Checks the file."""
    from distrl.runtime.task_files import contents

    found = contents(suite, tuple(only or ()))
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=2))
    else:
        _show(found)


def _show(found: Contents) -> None:
    splits = [split for split in SPLITS if found.count(split)]
    table = Table("template", *splits, "judged by", box=None, pad_edge=False)
    table.columns[0].overflow = "fold"
    for column in table.columns[1 : 1 + len(splits)]:
        column.justify = "right"
    for name, counts in found.templates.items():
        numbers = [str(counts[split]) if split in counts else "" for split in splits]
        table.add_row(Text(name), *numbers, found.judged[name])
    table.add_row("[bold]all", *(str(found.count(split)) for split in splits), "")
    console = Console()
    console.print(table)
    console.print(f"\n{found.name}, for example:")
    for goal in found.examples:
        console.print(Text(f"  {goal}"), soft_wrap=True)
