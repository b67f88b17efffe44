"""Finding a run by its folder or its name."""

from __future__ import annotations

from pathlib import Path

from distrl.errors import RunNotFound, nearest

RUNS = Path("runs")


def find_run(name_or_path: str, folder: Path = RUNS) -> Path:
    """The run folder at that path, or of that name in `folder`."""
    for path in (Path(name_or_path), folder / name_or_path):
        if is_run(path):
            return path
    known = known_runs(folder)
    names = f" Known: {', '.join(known)}." if known else " No run was made yet: `distrl train` makes one."
    raise RunNotFound(f"There is no run {name_or_path!r}.{nearest(name_or_path, known)}{names}")


def is_run(path: Path) -> bool:
    return (path / "config.yaml").is_file()


def known_runs(folder: Path = RUNS) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if is_run(path)) if folder.is_dir() else []
