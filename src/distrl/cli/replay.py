"""`distrl replay`: a trajectory as a film strip in an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from distrl.cli.runs import find_run
from distrl.errors import DistrlError, RunNotFound

if TYPE_CHECKING:
    from distrl.store.run import RunStore
    from distrl.types import Trajectory


def replay(
    run: Annotated[str, typer.Argument(help="A run, by name or folder.")],
    trajectory: Annotated[str | None, typer.Option(metavar="ID", help="This one; the first letters will do.")] = None,
    success: Annotated[bool, typer.Option("--success", help="The newest that succeeded.")] = False,
    failure: Annotated[bool, typer.Option("--failure", help="The newest that failed.")] = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Default: replay-ID.html in the run folder.")] = None,
) -> None:
    """Show one trajectory: screens, taps, action text, reward, value, version. Default: the newest."""
    if bool(trajectory) + success + failure > 1:
        raise DistrlError("Choose one of --trajectory, --success and --failure.")
    folder = find_run(run)
    from distrl.evaluation.film import film_page
    from distrl.store.run import RunStore

    with RunStore.read(folder) as store:
        chosen = choose(store, trajectory, "success" if success else "failure" if failure else None)
        page = film_page(chosen, store.screen)
    path = out or folder / f"replay-{chosen.id}.html"
    path.write_text(page, encoding="utf-8")
    typer.echo(f"{chosen.task.goal!r}: {chosen.outcome.kind} after {len(chosen.steps)} steps\n{path}")


def choose(store: RunStore, prefix: str | None, outcome: str | None) -> Trajectory:
    """By the first letters of its id, or the newest with that outcome. Raises `RunNotFound` when there is none."""
    ids = store.ids(outcome=outcome) if prefix is None else [one for one in store.ids() if one.startswith(prefix)]
    if not ids:
        wanted = f"whose id begins with {prefix!r}" if prefix else f"that is a {outcome}" if outcome else "yet"
        counts = store.counts()
        raise RunNotFound(
            f"{store.folder} has no trajectory {wanted}. "
            f"It has {counts.successes} successes and {counts.trajectories - counts.successes} failures."
        )
    if prefix and len(ids) > 1:
        raise RunNotFound(f"{len(ids)} trajectories begin with {prefix!r}; give more letters, e.g. {ids[0]}.")
    return next(store.trajectories(ids=ids[-1:]))
