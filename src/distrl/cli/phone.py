"""`distrl phone`: simulated phones behind ADB."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def phone(
    adb_port: Annotated[int, typer.Option(min=0, max=65535, help="Of the first phone; 0 takes a free one.")] = 5555,
    phones: Annotated[int, typer.Option(min=1, help="How many; each is two ports after the one before.")] = 1,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=PROBABILITY[:SECONDS],…",
            help="Faults to inject, e.g. offline=0.01,hang-screencap=0.01:30 (docs/android.md lists all).",
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(help="Latency and pop-ups, as an address of a simulated phone.")
    ] = "sim://phone",
    seed: Annotated[int, typer.Option(help="Of the phones before their first reset, and of the faults.")] = 0,
    scale: Annotated[int, typer.Option(help="Size of the screen: 1 is 192x384, 5 is 960x1920.")] = 1,
    sdk: Annotated[
        Path | None,
        typer.Option(help="Serve nothing; write an Android SDK whose emulator is a stand-in, to try avd:// on."),
    ] = None,
    avd: Annotated[str, typer.Option(help="With --sdk: name of the virtual device in it.")] = "Pixel_7",
) -> None:
    """Serve simulated phones over ADB on this machine, for `adb connect` and all that uses it, until Ctrl-C."""
    from distrl.phone_server.serving import ServeOptions, make_sdk, serve_phones

    if sdk is not None:
        make_sdk(sdk, avd, device, typer.echo)
        return
    serve_phones(ServeOptions(adb_port, phones, device, seed, scale, tuple(fault or ())), typer.echo)
