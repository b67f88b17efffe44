"""`distrl plan`: capacity planning: throughput of a fleet of any size, and which resource saturates first."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from distrl.cli.json_file import JsonFile, require_folder, write_figures
from distrl.errors import ConfigError

if TYPE_CHECKING:
    from distrl.evaluation.capacity import Forecast, Latencies, Site

TOLERANCE = 0.1
"""A prediction further off than this fails `--check`."""


def plan(
    run: Annotated[
        str | None, typer.Argument(metavar="[RUN]", help="A run by folder or name: its latencies are used.")
    ] = None,
    devices: Annotated[str, typer.Option(metavar="N,N,…", help="Fleets.")] = "8,32,128,256,1000,10000,100000,1000000",
    reset_s: Annotated[float | None, typer.Option(min=0, help="A reset.")] = None,
    action_s: Annotated[float | None, typer.Option(min=0, help="An action and the screenshot after it.")] = None,
    think_s: Annotated[float | None, typer.Option(min=0, help="A decision, waiting for its batch included.")] = None,
    steps: Annotated[float | None, typer.Option(min=1, help="Steps of an episode.")] = None,
    learner_s: Annotated[float | None, typer.Option(min=1e-6, help="A learner step.")] = None,
    trajectories_per_step: Annotated[float | None, typer.Option(min=1, help="Trajectories of a learner step.")] = None,
    reuse: Annotated[float | None, typer.Option(min=1e-6, help="How often each trajectory is sampled.")] = None,
    decisions_per_s: Annotated[
        float | None, typer.Option(min=1e-6, help="Of one policy GPU at its best batch; default: no limit.")
    ] = None,
    policy_gpus: Annotated[int | None, typer.Option(min=1, help="GPUs that run the policy.")] = None,
    host_s: Annotated[float | None, typer.Option(min=0, help="The host's time for one trajectory.")] = None,
    trajectory_mb: Annotated[float | None, typer.Option(min=0, help="Size of a trajectory, screenshots in.")] = None,
    weights_mb: Annotated[float | None, typer.Option(min=0, help="Size of a version of the weights.")] = None,
    devices_per_worker: Annotated[int | None, typer.Option(min=1, help="Devices of one worker.")] = None,
    network_mbit: Annotated[
        float | None, typer.Option(min=0.001, help="The host's connection, Mbit/s; default: no limit.")
    ] = None,
    paced: Annotated[
        bool | None,
        typer.Option("--paced/--unpaced", help="Whether pacing.max_lag makes devices wait for the learner."),
    ] = None,
    check: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Compare with the JSON of `distrl bench async` and stop.")
    ] = None,
    json_file: JsonFile = None,
) -> None:
    """Trajectories per minute, learner duty and devices per GPU of fleets of any size, and what saturates first.

    From the latencies of a run, or from numbers given, or both: a number given replaces the run's.
    """
    require_folder(json_file)
    if check is not None:
        compare(check, json_file)
        return
    episode = {"reset_s": reset_s, "action_s": action_s, "think_s": think_s, "steps": steps}
    behind = {
        "learner_s": learner_s,
        "trajectories_per_step": trajectories_per_step,
        "reuse": reuse,
        "decisions_per_s": decisions_per_s,
        "policy_gpus": policy_gpus,
        "host_s": host_s,
        "trajectory_mb": trajectory_mb,
        "weights_mb": weights_mb,
        "devices_per_worker": devices_per_worker,
        "network_mbit": network_mbit,
        "paced": paced,
    }
    latencies, site = inputs(run, given(episode), given(behind))
    predict(latencies, site, fleets(devices), json_file)


def given(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def fleets(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise ConfigError(f"--devices {text} must be numbers with commas between them, such as 8,1000,1000000.")
    return numbers


def inputs(run: str | None, episode: dict[str, Any], behind: dict[str, Any]) -> tuple[Latencies, Site]:
    from distrl.cli.runs import find_run
    from distrl.evaluation.capacity import Latencies, Site
    from distrl.evaluation.latencies import measured
    from distrl.store.run import RunStore

    if run is not None:
        with RunStore.read(find_run(run)) as store:
            latencies, site = measured(store)
        return replace(latencies, **episode), replace(site, **behind)
    if missing := [name for name in ("reset_s", "action_s", "think_s", "steps") if name not in episode]:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in missing)
        raise ConfigError(f"Name a run to take latencies from, or give {options}.")
    return Latencies(**episode), Site(**behind)


def predict(latencies: Latencies, site: Site, sizes: list[int], json_file: Path | None) -> None:
    from distrl.evaluation.capacity import first_to_saturate, forecast

    console = Console()
    forecasts = [forecast(latencies, site, size) for size in sizes]
    first = first_to_saturate(latencies, site)
    console.print(table(forecasts))
    console.print(f"One episode takes a device {latencies.cycle_s:.4g} s.")
    console.print(f"One learner keeps up with {count(forecasts[0].devices_per_learner)} devices, ", end="")
    console.print(f"one policy GPU with {count(forecasts[0].devices_per_policy_gpu)}.")
    what = "Nothing behind the devices saturates." if first is None else f"First the {first[0]} saturates, "
    console.print(what, end="\n" if first is None else "")
    if first is not None:
        console.print(f"at {first[1]:,} devices.")
    if json_file:
        record = {
            "latencies": asdict(latencies),
            "site": finite(asdict(site)),
            "rows": [finite(asdict(each)) for each in forecasts],
            "saturates_first": None if first is None else {"resource": first[0], "devices": first[1]},
        }
        write_figures(record, json_file, console)


def table(forecasts: list[Forecast]) -> Table:
    result = Table(
        "devices", "trajectories/min", "limit", "busy", "policy", "host", "network", "learner", box=None, pad_edge=False
    )
    for each in forecasts:
        duties = [share(each.duty[name]) for name in ("policy", "host", "network", "learner")]
        result.add_row(f"{each.devices:,}", f"{each.per_min:,.1f}", each.limit, share(each.busy_fraction), *duties)
    return result


def share(value: float) -> str:
    return "–" if value == 0.0 else f"{100 * value:.3g} %"


def count(value: float) -> str:
    return "any number of" if math.isinf(value) else f"{value:,.0f}"


def finite(tree: dict[str, Any]) -> dict[str, Any]:
    """For JSON, which has no infinity: unlimited values become null."""
    return {key: None if isinstance(value, float) and math.isinf(value) else value for key, value in tree.items()}


def compare(file: Path, json_file: Path | None) -> None:
    """Print every prediction beside its measurement. Exits with 1 when one is off by more than a tenth."""
    from distrl.evaluation.latencies import check

    try:
        checks = check(json.loads(file.read_text(encoding="utf-8"))["rows"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{file} holds no figures of `distrl bench async`: {error!r}.") from error
    result = Table("profile", "devices", "measured/min", "predicted/min", "off by", box=None, pad_edge=False)
    for each in checks:
        cells = (f"{each.measured_per_min:.1f}", f"{each.predicted_per_min:.1f}", f"{100 * each.error:+.1f} %")
        result.add_row(each.profile, str(each.devices), *cells)
    console = Console()
    console.print(result)
    write_figures({"checks": [{**asdict(each), "error": each.error} for each in checks]}, json_file, console)
    worst = max(checks, key=lambda each: abs(each.error))
    good = abs(worst.error) <= TOLERANCE
    console.print(
        f"{'Within' if good else 'NOT within'} {100 * TOLERANCE:.0f} %: the furthest off is {worst.profile} at "
        f"{worst.devices} devices, by {100 * worst.error:+.1f} %."
    )
    if not good:
        raise typer.Exit(1)
