"""`distrl bench async`: asynchronous collection against synchronous rounds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from distrl.cli.json_file import JsonFile, require_folder, write_figures
from distrl.errors import ConfigError

if TYPE_CHECKING:
    from distrl.bench.asynchrony.campaign import AsyncCampaign

COLUMNS = (
    ("profile", "{profile}"),
    ("devices", "{devices}"),
    ("async /min", "{async_per_min:.1f}"),
    ("sync /min", "{sync_per_min:.1f}"),
    ("ratio", "{ratio:.2f}"),
    ("95 %", "{ratio_ci95[0]:.2f} to {ratio_ci95[1]:.2f}"),
    ("ceiling", "{ceiling:.2f}"),
    ("achieved", "{achieved:.3f}"),
    ("busy", "{busy_fraction:.3f}"),
    ("lag p50", "{lag_p50:.0f}"),
    ("p95", "{lag_p95:.0f}"),
)
FAIRNESS = (
    ("profile", "{profile}"),
    ("devices", "{devices}"),
    ("max_lag", "{max_lag}"),
    ("admitted", "{admitted}"),
    ("trained on", "{trained}"),
    ("KS distance", "{ks:.3f}"),
    ("by chance", "{ks_95:.3f}"),
)


def asynchrony(
    devices: Annotated[
        str | None, typer.Option(metavar="N,N,…", help="Fleets; default: 8,32,128,256, or 32 with --real.")
    ] = None,
    profiles: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…",
            help="Episode times: homogeneous, two-speed, heavy-tail, paper; default: all, or paper with --real.",
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of each kind.")] = 5,
    minutes: Annotated[
        float | None, typer.Option(min=0.001, help="Wall-clock of each run; default: 8 mean episodes, 18 with --real.")
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(
            min=1e-4,
            max=1.0,
            help="Scale of a phone's latencies; default: 0.01, 0.02 for 256 devices, 0.2 with --real.",
        ),
    ] = None,
    think_s: Annotated[
        float, typer.Option(min=0.0, help="Inference time of the scripted policy, before scaling.")
    ] = 0.5,
    learner_s: Annotated[float, typer.Option(min=0.0, help="A step of the sleeping learner, before scaling.")] = 5.0,
    seed: Annotated[int, typer.Option(min=0, help="Decides tasks, and so episode times.")] = 0,
    real: Annotated[bool, typer.Option("--real", help="With the real learner and the real policy, on Ray.")] = False,
    config: Annotated[str, typer.Option(help="With --real: where model, tasks and learner come from.")] = "quickstart",
    json_file: JsonFile = None,
) -> None:
    """Trajectories per minute of the same devices, asynchronous and in synchronous rounds, and the theoretical maximum.

    Devices wait and use no CPU. A time scale shortens hours to minutes, and is taken out of the figures. Without
    --real the learner sleeps and the policy is scripted, and two cores carry hundreds of devices through the worker,
    host, spool and pacing of every training. docs/benchmarks.md defines every figure.
    """
    from distrl.bench.asynchrony.campaign import AsyncCampaign, names, numbers
    from distrl.bench.asynchrony.profiles import PROFILES

    require_folder(json_file)
    try:
        fleets = numbers(devices or ("32" if real else "8,32,128,256"))
    except ValueError:
        raise ConfigError(f"--devices {devices} must be numbers with commas between them, such as 8,32.") from None
    campaign = AsyncCampaign(
        profiles=names(profiles or ("paper" if real else "all"), tuple(PROFILES)),
        devices=fleets,
        repeats=repeats,
        minutes=minutes,
        scale=scale or (0.2 if real else None),
        think_s=think_s,
        learner_s=learner_s,
        seed=seed,
        real=config if real else None,
    )
    measure(campaign, json_file)


def measure(campaign: AsyncCampaign, json_file: Path | None) -> None:
    console = Console()

    figures = campaign.run(
        lambda text: console.print(Text(text), soft_wrap=True),
        lambda so_far: write_figures(so_far, json_file, Console(quiet=True)),
    )
    show(console, "trajectories per minute", COLUMNS, figures["rows"])
    show(console, "durations admitted against durations trained on", FAIRNESS, figures["fairness"])
    write_figures(figures, json_file, console)


def show(console: Console, title: str, columns: tuple[tuple[str, str], ...], rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    table = Table(*(name for name, _ in columns), title=title, title_justify="left", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(form.format(**row) for _, form in columns))
    console.print(table)
