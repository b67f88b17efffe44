"""`distrl devices`: the phones that adb sees, or the emulator of an AVD, and what they are good for."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from distrl.runtime.checkup import Listing

app = typer.Typer(help="Look at phones behind adb, and at emulators. Nothing on them is touched.", no_args_is_help=True)

Address = Annotated[
    str, typer.Argument(metavar="[ADDRESS]", help="As in devices.address, e.g. adb://127.0.0.1:5555 or avd://Pixel_7.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")]


@app.command("list")
def list_devices(address: Address = "adb://*", as_json: AsJson = False) -> None:
    """Serial, state, model, Android version and screen of every phone."""
    _tell(address, deep=False, as_json=as_json)


@app.command("check")
def check_devices(address: Address = "adb://*", as_json: AsJson = False) -> None:
    """The same, and how long each way to look at a phone takes; of an avd:// address one emulator is started for it.
    Exits with 1 if a phone cannot be used."""
    _tell(address, deep=True, as_json=as_json)


def _tell(address: str, *, deep: bool, as_json: bool) -> None:
    from distrl.runtime.checkup import look_at_phones

    phones = look_at_phones(address, deep=deep)
    if as_json:
        typer.echo(json.dumps([asdict(phone) for phone in phones], indent=2))
    else:
        _show(phones)
    if deep and (not phones or any(phone.problem for phone in phones)):
        raise typer.Exit(1)


def _show(phones: list[Listing]) -> None:
    console = Console()
    if not phones:
        console.print("No phone is attached. Plug one in and switch on USB debugging, or give its adb://HOST:PORT.")
        return
    table = Table("serial", "state", "model", "android", "screen", box=None, pad_edge=False)
    for phone in phones:
        table.add_row(*(Text(value) for value in (phone.serial, phone.state, phone.model, phone.android, phone.screen)))
    console.print(table)
    for phone in phones:
        for line in _remarks(phone):
            console.print(Text.assemble((f"{phone.serial}: ", "bold"), line), soft_wrap=True)


def _remarks(phone: Listing) -> list[str]:
    times = [
        f"{name} {1000 * taken:.0f} ms" if isinstance(taken, float) else f"{name}: {taken}"
        for name, taken in phone.seconds.items()
    ]
    keyboard = "types ASCII only; install ADBKeyBoard for the rest" if phone.unicode is False else ""
    return [remark for remark in (phone.problem, ", ".join(times), keyboard) if remark]
