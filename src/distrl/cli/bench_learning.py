"""`distrl bench learning`: methods against each other, from one warm start and for equal wall-clock."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from distrl.cli.json_file import JsonFile, require_folder, write_figures
from distrl.errors import ConfigError

if TYPE_CHECKING:
    from distrl.bench.learning.plan import RacePlan


def learning(
    changes: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to change for all methods alike.")
    ] = None,
    suite: Annotated[str, typer.Option(help="Suite of tasks: general or webshop.")] = "general",
    profile: Annotated[
        str, typer.Option(help="Latency of the simulated phones: none, emulator, two-speed or paper.")
    ] = "emulator",
    minutes: Annotated[float, typer.Option(min=0.001, help="Wall-clock of training for each run.")] = 10.0,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each method that names no number of its own.")] = 3,
    methods: Annotated[
        str,
        typer.Option(
            metavar="A,B,…", help="Methods by name, or all, baselines, ablations, lag; grpo:1 takes one seed."
        ),
    ] = "all",
    parallel: Annotated[
        int | None, typer.Option(min=1, help="Runs in parallel, each on its share of the cores; default: cores / 2.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Runs, logs and records go there; default: runs/learning-SUITE.")
    ] = None,
    json_file: JsonFile = None,
    plots: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Draw the curves there, as SVG.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the runs and what they change; start none.")] = False,
) -> None:
    """Train every method from the same warm start for the same time, and compare final success and speed.

    Each run is a training run with its own folder and process. Finished runs are not repeated: after Ctrl-C, or with
    more methods or seeds, the same command resumes. The table is printed and written to learning.md in the folder.
    """
    from distrl.bench.learning.methods import choose
    from distrl.bench.learning.plan import RacePlan, cores

    require_folder(json_file)
    chosen = choose([name.strip() for name in methods.split(",")], seeds)
    where = folder or Path("runs") / f"learning-{suite}"
    plan = RacePlan(suite, profile, minutes, chosen, where, tuple(changes or ()))
    check(plan)
    side_by_side = parallel or max(1, len(cores()) // 2)
    if dry_run:
        show(plan, side_by_side)
        return
    measure(plan, side_by_side, json_file, plots)


def check(plan: RacePlan) -> None:
    """Check all settings and this machine before hours of work. Raises `DistrlError`."""
    from distrl.runtime.preflight import check as check_config
    from distrl.runtime.preflight import check_machine

    for entry in plan.entries():
        if entry.seed == 0:  # the other seeds have the same settings
            check_config(plan.config(entry))
            check_machine(plan.config(entry))


def show(plan: RacePlan, parallel: int) -> None:
    from distrl.bench.learning.methods import METHODS

    console = Console()
    for name in plan.methods:
        console.print(Text(f"{name}  {' '.join(METHODS[name].settings)}"), soft_wrap=True)
    runs = sum(plan.methods.values())
    rounds = -(-runs // parallel)
    console.print(f"{runs} runs, {parallel} side by side: {rounds * plan.minutes:g} minutes of training, and the tests")


def measure(plan: RacePlan, parallel: int, json_file: Path | None, plots: Path | None) -> None:
    from distrl.bench.learning import run
    from distrl.bench.learning.plots import draw_all
    from distrl.bench.learning.result import result
    from distrl.bench.learning.table import markdown

    console = Console()
    records = run(plan, parallel, lambda text: console.print(Text(text), soft_wrap=True))
    figures = result(plan, records, ["distrl", *sys.argv[1:]])
    page = markdown(figures)
    (plan.folder / "learning.md").write_text(page, encoding="utf-8")
    typer.echo(page)
    write_figures(figures, json_file, console, indent=None)
    for path in draw_all(figures, plots) if plots else ():
        console.print(f"drawn to {path}", soft_wrap=True)
    if all(record.failed for record in records if record.method in plan.methods):
        raise ConfigError(f"Every run failed; the logs are in {plan.folder / 'logs'}.")
