"""`distrl devices`: the phones that adb sees, or the emulator of an AVD, and whether they can be used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from time import sleep, time
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from distrl.cli.fleet import fleet_of, fleet_table
from distrl.cli.runs import find_run

if TYPE_CHECKING:
    from distrl.cli.phone_checks import PhoneReport

app = typer.Typer(help="Look at phones behind adb, and at emulators. Nothing on them is touched.", no_args_is_help=True)

ALL = "adb://*"
NONE = "No phone is attached. Plug one in and switch on USB debugging, or give its adb://HOST:PORT."

Address = Annotated[
    str, typer.Argument(metavar="[ADDRESS]", help="As in devices.address, e.g. adb://127.0.0.1:5555 or avd://Pixel_7.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")]


@app.command("list")
def list_devices(address: Address = ALL, as_json: AsJson = False) -> None:
    """Serial, state, model, Android version and screen of every phone."""
    _tell(address, deep=False, as_json=as_json)


@app.command("check")
def check_devices(address: Address = ALL, as_json: AsJson = False) -> None:
    """The same, with the latency of each way to capture the screen; for an avd:// address one emulator is started.
    Exits with 1 if a phone cannot be used."""
    _tell(address, deep=True, as_json=as_json)


@app.command("watch")
def watch_devices(
    target: Annotated[str, typer.Argument(metavar="[RUN|ADDRESS]", help="A run, by name or folder; or adb://…")] = ALL,
    every_s: Annotated[float, typer.Option("--every", min=0.1, metavar="SECONDS", help="Between two updates.")] = 2.0,
    once: Annotated[bool, typer.Option("--once", help="Print once and exit.")] = False,
) -> None:
    """Attached phones, live, until Ctrl-C; of a run, the health of its devices."""
    looks = _phones(target) if "://" in target else _fleet(target)
    console = Console()
    if once:
        console.print(next(looks))
        return
    with suppress(KeyboardInterrupt), Live(console=console, auto_refresh=False, screen=console.is_terminal) as live:
        for table in looks:
            live.update(table, refresh=True)
            sleep(every_s)


def _phones(address: str) -> Iterator[RenderableType]:
    from distrl.cli.phone_checks import watch_phones

    for phones in watch_phones(address):
        problems = [Text(f"{phone.serial}: {phone.problem}") for phone in phones if phone.problem]
        yield Group(_table(phones), *problems) if phones else Text(NONE)


def _fleet(run: str) -> Iterator[RenderableType]:
    folder = find_run(run)
    while True:
        yield fleet_table(fleet_of(folder), time())


def _tell(address: str, *, deep: bool, as_json: bool) -> None:
    from distrl.cli.phone_checks import look_at_phones

    phones = look_at_phones(address, deep=deep)
    if as_json:
        typer.echo(json.dumps([asdict(phone) for phone in phones], indent=2))
    else:
        _show(phones)
    if deep and (not phones or any(phone.problem for phone in phones)):
        raise typer.Exit(1)


def _show(phones: list[PhoneReport]) -> None:
    console = Console()
    if not phones:
        console.print(NONE)
        return
    console.print(_table(phones))
    for phone in phones:
        for line in _remarks(phone):
            console.print(Text.assemble((f"{phone.serial}: ", "bold"), line), soft_wrap=True)


def _table(phones: list[PhoneReport]) -> Table:
    table = Table("serial", "state", "model", "android", "screen", "answers in", box=None, pad_edge=False)
    for phone in phones:
        answers = "" if phone.latency_s is None else f"{1000 * phone.latency_s:.0f} ms"
        cells = (phone.serial, phone.state, phone.model, phone.android, phone.screen, answers)
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _remarks(phone: PhoneReport) -> list[str]:
    times = [
        f"{name} {1000 * taken:.0f} ms" if isinstance(taken, float) else f"{name}: {taken}"
        for name, taken in phone.seconds.items()
    ]
    keyboard = "types ASCII only; install ADBKeyBoard for the rest" if phone.unicode is False else ""
    return [remark for remark in (phone.problem, ", ".join(times), keyboard) if remark]
