"""`distrl sft`: supervised fine-tuning: trains the pocket model's weights from demonstrations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distrl.cli.options import read_options
from distrl.errors import RunExists


def sft(
    out: Annotated[Path, typer.Argument(help="Folder to write the model into.")],
    options: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Amounts, e.g. walks=2000 read_steps=300.")
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="A model to continue from; with read_steps=0 only on demonstrations."),
    ] = None,
) -> None:
    """Make the pocket model: learn to read random screens, then imitate demonstrations of the train split."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise RunExists(f"{out} exists already and was not changed. Name a folder that does not exist.")
    from distrl.imitation.sft import Recipe, make_pocket
    from distrl.runtime.preflight import seal

    make_pocket(out, Recipe(**read_options(Recipe, options or [])), typer.echo, start)
    seal(out)
    typer.echo(f"written to {out}; play it with `distrl eval {out}`")
