"""`distrl train`: start a run, or resume one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from distrl.cli.progress import open_progress
from distrl.cli.runs import find_run
from distrl.config import Config, load_config, to_yaml, with_free_name
from distrl.errors import RunExists

ConfigArgument = Annotated[
    str, typer.Argument(metavar="[CONFIG]", help="Name of a config, a YAML file, or a run folder.", show_default=False)
]
Overrides = Annotated[
    list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to change, e.g. run.minutes=20.")
]
DEFAULT = "quickstart"


def train(
    config: ConfigArgument = DEFAULT,
    overrides: Overrides = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Resume this run.")] = None,
    serial: Annotated[bool, typer.Option("--serial", help="One thread, virtual clock, repeatable.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the settings, print them, start nothing.")] = False,
) -> None:
    """Train a policy on a suite of tasks, on as many devices as the config names."""
    name, changes = split_arguments(config, overrides)
    folder = find_run(resume) if resume else None
    settings = resumed(folder, changes) if folder else fresh(name, changes)
    from distrl.runtime import launch
    from distrl.runtime.preflight import check, check_machine

    check(settings)
    check_machine(settings)
    console = Console()
    if dry_run:
        console.print(Text(to_yaml(settings)), end="", soft_wrap=True)
        return
    with open_progress(console, str(settings.run_folder), settings.runtime.progress_s) as progress:
        code = launch(settings, serial=serial, resume=folder, progress=progress)
    if code == 0:  # an interrupted run has printed how to resume it
        show_summary(console, settings.run_folder)
    raise typer.Exit(code)


def split_arguments(config: str, overrides: list[str] | None) -> tuple[str, list[str]]:
    """`distrl train run.minutes=3` means the default config with that override."""
    if "=" in config and not Path(config).exists():
        return DEFAULT, [config, *(overrides or [])]
    return config, list(overrides or [])


def fresh(name: str, overrides: list[str]) -> Config:
    """Settings of a new run. Raises `RunExists` before anything is started."""
    settings = with_free_name(load_config(name, overrides))
    if settings.run_folder.exists():
        raise RunExists(
            f"{settings.run_folder} exists already and was not changed. "
            f"Resume it with --resume {settings.run_folder}, or give this run another name: run.name=…"
        )
    return settings


def resumed(folder: Path, overrides: list[str]) -> Config:
    """Settings of a run to resume: its own, with overrides. The folder may have been moved."""
    settings = load_config(folder, overrides)
    return settings.model_copy(
        update={"run": settings.run.model_copy(update={"folder": folder.parent, "name": folder.name})}
    )


def show_summary(console: Console, folder: Path) -> None:
    """Before, after, the interval of the difference, and where the report is."""
    summary = read_summary(folder)
    table = Table.grid(padding=(0, 2))
    for key, label in (("success_before", "before"), ("success_after", "after")):
        if summary.get(key) is not None:
            table.add_row(label, f"{summary[key]:.1%}", f"of {summary.get('episodes', '?')} held-out tasks")
    if summary.get("difference_ci95") is not None:
        low, high = summary["difference_ci95"]
        change = summary["success_after"] - summary["success_before"]
        table.add_row(
            "difference", f"{100 * change:+.1f} points", f"95 % interval {100 * low:+.1f} to {100 * high:+.1f}"
        )
    console.print(table)
    report = folder / "report.html"
    console.print(Text(f"report  {report}" if report.is_file() else f"run folder  {folder}"), soft_wrap=True)


def read_summary(folder: Path) -> dict[str, Any]:
    """The content of `summary.json`; without evaluations it has no rates."""
    path = folder / "summary.json"
    summary: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return summary
