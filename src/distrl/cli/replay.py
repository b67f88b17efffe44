"""`distrl replay`: a trajectory as a film strip in an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from distrl.cli.json_file import require_folder
from distrl.cli.runs import find_run
from distrl.errors import ConfigError


def replay(
    run: Annotated[str, typer.Argument(help="A run, by name or folder.")],
    trajectory: Annotated[str | None, typer.Option(metavar="ID", help="This one; the first letters will do.")] = None,
    success: Annotated[bool, typer.Option("--success", help="The newest that succeeded.")] = False,
    failure: Annotated[bool, typer.Option("--failure", help="The newest that failed.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: replay.html in the run folder.")] = None,
) -> None:
    """Show one trajectory: screens, taps, action text, reward, value, version. Default: the newest."""
    chosen = [trajectory] if trajectory else []
    chosen += ["success"] * success + ["failure"] * failure
    if len(chosen) > 1:
        raise ConfigError("Choose one of --trajectory, --success and --failure.")
    folder = find_run(run)
    require_folder(out, "--out")
    from distrl.evaluation.report import write_replay

    typer.echo(write_replay(folder, chosen[0] if chosen else "latest", out))
