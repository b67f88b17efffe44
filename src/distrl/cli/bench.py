"""`distrl bench`: one command per published figure, printed with its spread and written as JSON.

A bench is a module of `distrl.bench` with `run(**options) -> dict`, every option with a default. The first line of its
docstring says what it measures. A list of numbers in the dict is repeated measurements of one figure, shown as median
and range. A bench that needs typed options has a module of its own here (`bench_learning`).
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import statistics
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from typer.core import TyperGroup

from distrl.cli import bench_async, bench_faults, bench_learning
from distrl.cli.json_file import JsonFile, require_folder, write_figures
from distrl.cli.options import read_options
from distrl.errors import UnknownName


class Benches(TyperGroup):
    """Imports benches lazily: importing them all would make every command slow."""

    def list_commands(self, ctx: Any) -> list[str]:
        return known_benches()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return super().get_command(ctx, cmd_name) or generic(cmd_name)


app = typer.Typer(cls=Benches, add_completion=False, pretty_exceptions_enable=False)
app.command("learning")(bench_learning.learning)
app.command("async")(bench_async.asynchrony)
app.command("faults")(bench_faults.faults)

MODULES = {"async": "asynchrony"}
"""Benches whose module has another name: `async` is a Python keyword."""


@app.callback(invoke_without_command=True)
def bench(ctx: typer.Context) -> None:
    """Measure a published figure on this machine; without a name the benches are listed."""
    if ctx.invoked_subcommand is None:
        Console().print(catalogue())


def generic(name: str) -> Any:
    """The command of a bench whose options are the parameters of its `run`. Raises `UnknownName`."""
    module = load(name)

    def measure(
        options: Annotated[
            list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Options of the bench.")
        ] = None,
        json_file: JsonFile = None,
    ) -> None:
        measured(name, module, options or [], json_file)

    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    known = ", ".join(
        f"{key}={parameter.default}" for key, parameter in inspect.signature(module.run).parameters.items()
    )
    single.command(name, help=f"{describe(module)}\n\nOptions and their defaults: {known}.")(measure)
    return typer.main.get_command(single)


def measured(name: str, module: ModuleType, options: list[str], json_file: Path | None) -> None:
    """Run a bench, print its figures and write them."""
    require_folder(json_file)
    console = Console()
    chosen = read_options(module.run, options)
    figures = module.run(**chosen)
    console.print(table(name, figures))
    if json_file:
        write_figures(record(name, chosen, figures), json_file, console)


def known_benches() -> list[str]:
    import distrl.bench

    modules = [module.name for module in pkgutil.iter_modules(distrl.bench.__path__) if module.name[0] != "_"]
    names = {module: name for name, module in MODULES.items()}
    return sorted(names.get(module, module) for module in modules)


def load(name: str) -> ModuleType:
    if name not in known_benches():
        raise UnknownName("bench", name, known_benches())
    return importlib.import_module(f"distrl.bench.{MODULES.get(name, name)}")


def catalogue() -> Table:
    result = Table("bench", "measures", box=None, pad_edge=False)
    for name in known_benches():
        result.add_row(name, describe(load(name)))
    return result


def describe(module: ModuleType) -> str:
    return (inspect.getdoc(module) or "").partition("\n")[0]


def record(name: str, options: Mapping[str, Any], figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures with all that is needed to reproduce them."""
    from distrl.store import provenance

    command = ["distrl", *sys.argv[1:]]
    made = provenance.describe(seed=int(options.get("seed", 0)), command=command, date=datetime.now(UTC))
    return {"bench": name, **made, "options": dict(options), "figures": dict(figures)}


def table(name: str, figures: Mapping[str, Any]) -> Table:
    result = Table("figure", "value", title=f"bench {name}", title_justify="left", box=None, pad_edge=False)
    result.columns[1].justify = "right"
    for figure, value in flatten(figures):
        result.add_row(figure, show(value))
    return result


def flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{key}.")
        elif isinstance(value, list | tuple) and value and isinstance(value[0], Mapping):
            for index, row in enumerate(value):
                yield from flatten(row, f"{prefix}{key}[{index}].")
        else:
            yield f"{prefix}{key}", value


def show(value: Any) -> str:
    if isinstance(value, list | tuple) and value and all(isinstance(one, int | float) for one in value):
        middle = statistics.median(value)
        return f"{number(middle)} ({number(min(value))} to {number(max(value))}, n={len(value)})"
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def number(value: float) -> str:
    """Rounded to four significant digits."""
    return f"{value:,.0f}" if isinstance(value, int) or abs(value) >= 1000 else f"{value:.4g}"
