"""`distrl bench faults`: fault injection, what each fault costs, and that nothing is lost."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from distrl.cli.json_file import JsonFile, require_folder, write_figures

COLUMNS = ("", "what", "survived", "strikes", "episodes lost", "back p50", "p95", "kept")


def faults(
    rows: Annotated[str, typer.Option(metavar="N,N,…", help="Rows of the table; default: all.")] = "all",
    phones: Annotated[int, typer.Option(min=1, help="Phones of each fleet; half as many emulators.")] = 8,
    seconds: Annotated[float, typer.Option(min=20.0, help="How long each pair of fleets plays.")] = 60.0,
    repeats: Annotated[int, typer.Option(min=1, help="Pairs of each row.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Decides tasks and waits.")] = 0,
    json_file: JsonFile = None,
) -> None:
    """Inject faults into a fleet, row by row, against a control fleet: what each fault costs, and what is lost.

    Served phones behind the real adb, with the latency of an emulator; the fault is injected once per phone.
    docs/benchmarks.md defines every figure.
    """
    from distrl.bench.faults.campaign import run
    from distrl.cli.bench import record

    require_folder(json_file)
    console = Console()
    options = {"rows": rows, "phones": phones, "seconds": seconds, "repeats": repeats, "seed": seed}
    figures = run(rows, phones, seconds, repeats, seed, lambda text: console.print(Text(text), soft_wrap=True))
    console.print(_table(figures["rows"]))
    console.print(Text(_headline(figures["headline"])), soft_wrap=True)
    if json_file:
        write_figures(record("faults", options, figures), json_file, console)


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table(*COLUMNS, box=None, pad_edge=False)
    for each in rows:
        kept = sorted(each["throughput_kept"])
        cells = (
            str(each["row"]),
            each["what"],
            "yes" if each["survived"] else "NO",
            str(each["strikes"]),
            str(each["episodes_invalid"]),
            _seconds(each["recovery_p50_s"]),
            _seconds(each["recovery_p95_s"]),
            f"{kept[len(kept) // 2]:.0%} ({kept[0]:.0%} to {kept[-1]:.0%})",
        )
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _headline(figures: dict[str, Any]) -> str:
    return (
        f"{figures['survived']} of {figures['of']} survived; trajectories lost {figures['lost']}, doubled "
        f"{figures['doubled']}; back after {_seconds(figures['recovery_p50_s'])} (p50), "
        f"{_seconds(figures['recovery_p95_s'])} (p95); throughput kept {figures['throughput_kept']:.0%}"
    )


def _seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"
