"""`distrl judge`: calibration of the VLM judge against rules."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from distrl.cli.json_file import JsonFile, require_folder, write_figures
from distrl.cli.runs import find_run
from distrl.config import load_config

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, no_args_is_help=True)


@app.callback()
def judge() -> None:
    """Calibrate the judge that uses a vision-language model."""


@app.command()
def calibrate(
    run: Annotated[str, typer.Argument(help="A run whose trajectories rules have judged, by name or folder.")],
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings to change: judge.model=… judge.url=…")
    ] = None,
    count: Annotated[int, typer.Option("--trajectories", min=1, help="How many, the newest.")] = 200,
    attacked: Annotated[bool, typer.Option("--attack/--no-attack", help="Also under hostile screens, answers.")] = True,
    json_file: JsonFile = None,
) -> None:
    """Judge recorded trajectories with the model, and compare with the verdicts of the rules.

    Prints agreement, false accepts and false rejects with their 95 % intervals, and how many failures are accepted
    under prompt injection by screens or answers. Sends one request per trajectory, and one per attack for every
    failure that the agent declared done.
    """
    folder = find_run(run)
    require_folder(json_file)
    # A run that rules judge names no model, so the kind is chosen here; one that names a model keeps what it says.
    settings = load_config(folder, ["judge.kind=vlm", *(overrides or [])])
    from distrl.cli.judge_calibration import calibrate_judge

    # Progress goes to stderr, so that the table alone can be piped.
    errors = Console(stderr=True)
    figures = calibrate_judge(
        settings, folder, count=count, attacked=attacked, say=lambda text: errors.print(Text(text), soft_wrap=True)
    )
    show(figures)
    write_figures({"run": folder.name, **figures}, json_file, errors)


def show(figures: dict[str, Any]) -> None:
    table = Table("", "count", "of", "rate", "95 % interval", box=None, pad_edge=False)
    for name in ("agreement", "false_accepts", "false_rejects"):
        table.add_row(name.replace("_", " "), *cells(figures[name]))
    for name, rate in figures.get("attacks", {}).items():
        table.add_row(Text(f"accepted: {name}"), *cells(rate))
    console = Console()
    console.print(table)
    account = figures["account"]
    turned = sum(rate["turned"] for rate in figures.get("attacks", {}).values())
    if "attacks" in figures:
        console.print(f"{turned} times a failure was accepted under an attack and not without it")
    console.print(
        f"{figures['unjudged']} of {figures['trajectories']} could not be judged; {account['asked']} requests, "
        f"{account['cached']} verdicts from the cache, {account['tokens_in']} + {account['tokens_out']} tokens, "
        f"cost {account['cost']:.4f}",
        soft_wrap=True,
    )


def cells(rate: dict[str, Any]) -> tuple[str, str, str, str]:
    if rate["rate"] is None:
        return str(rate["count"]), str(rate["n"]), "–", "–"
    low, high = rate["ci95"]
    return str(rate["count"]), str(rate["n"]), f"{100 * rate['rate']:.1f} %", f"{100 * low:.1f} to {100 * high:.1f} %"
