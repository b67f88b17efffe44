"""`distrl worker`: join a running training with this machine's devices."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

SPOOL = Path("~/.distrl/spool")
TOKEN_VARIABLE = "RAY_AUTH_TOKEN_PATH"


def worker(
    address: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Of the training; `auto`: the Ray node that runs here already.")
    ],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="Settings of this machine, e.g. devices.address=sim://phone."),
    ] = None,
    devices: Annotated[
        int | None, typer.Option(min=1, help="Devices to play with; as the training says if left out.")
    ] = None,
    token: Annotated[Path | None, typer.Option(metavar="FILE", help="Copy of the training's token.")] = None,
    name: Annotated[str | None, typer.Option(help="Name of this worker; the machine's if left out.")] = None,
    run: Annotated[str | None, typer.Option(help="Which training, where several run on one Ray.")] = None,
    listen: Annotated[
        str | None, typer.Option(metavar="IP", help="Address of this machine for the training; found if left out.")
    ] = None,
    spool: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Holds finished trajectories until the training acknowledges them.")
    ] = SPOOL,
) -> None:
    """Join a running training with this machine's devices; Ctrl-C leaves it, and nothing is lost."""
    from distrl.runtime.join_watcher import Offer, join

    count = [f"devices.per_worker={devices}"] if devices else []
    variable = os.environ.get(TOKEN_VARIABLE)
    offer = Offer(
        address=address,
        name=name or socket.gethostname(),
        overrides=(*(overrides or []), *count),
        spool=str(spool.expanduser().absolute()),
        token=str(token or variable) if token or variable else None,
        run=run,
        listen=listen,
        node_resources={"devices": float(devices)} if devices else None,
    )
    console = Console()
    raise typer.Exit(join(offer, lambda text: console.print(Text(text), soft_wrap=True)))
