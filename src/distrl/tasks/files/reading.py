"""Reads and validates a task file; the result is safe to display, to hash and to pass to a phone.

Nothing in a file can run code, name a path, or open anything but an app or a web page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from distrl.config.playing import TASK_FILES
from distrl.errors import ConfigError, nearest
from distrl.loading import Lines, with_lines
from distrl.tasks.files.entry import DEFAULT_KEYS, KEYS, Problem, TaskEntry

MAX_BYTES = 1 << 20
"""Enough for more than ten thousand goals."""
MAX_SHOWN_PROBLEMS = 10
"""Problems listed in one error."""
SECTIONS = ("defaults", "tasks")


def read_text(path: Path) -> str:
    if path.suffix not in TASK_FILES:
        raise ConfigError(f"{path} is no task file: its name must end with {', '.join(TASK_FILES)}.")
    try:
        data = path.read_bytes()
        if len(data) > MAX_BYTES:
            raise ConfigError(f"{path} has {len(data)} bytes, and a task file may have {MAX_BYTES}. Divide it.")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"There is no task file {path} that can be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is no text in UTF-8 ({error.reason} at byte {error.start}). Save it as such."
        ) from error


def read_entries(path: Path, text: str) -> list[TaskEntry]:
    """Every task of the file. Raises one `ConfigError` for all that is wrong with it."""
    trees = _listed(path, text) if path.suffix in (".yaml", ".yml") else _lines(text)
    entries: list[TaskEntry] = []
    problems: list[str] = []
    for line, tree in trees:
        try:
            entries.append(TaskEntry.parse(line, tree))
        except Problem as problem:
            problems.append(f"{path}, line {line}: {problem}")
    if problems:
        more = [f"… and {len(problems) - MAX_SHOWN_PROBLEMS} more"] if len(problems) > MAX_SHOWN_PROBLEMS else []
        raise ConfigError("\n".join([*problems[:MAX_SHOWN_PROBLEMS], *more]))
    if not entries:
        raise ConfigError(f"{path} holds no task. Write one goal per line, or a list `tasks:` in YAML.")
    return entries


def _lines(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """One goal per line, taken literally; lines that begin with # are comments. Repeated goals count once."""
    known = set()
    for number, line in enumerate(text.split("\n"), 1):
        goal = " ".join(line.split())
        if goal and not goal.startswith("#") and goal not in known:
            known.add(goal)
            yield number, {"goal": goal.replace("{", "{{").replace("}", "}}")}


def _listed(path: Path, text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The tasks of a YAML file, each completed from `defaults`."""
    tree = with_lines(text, str(path))
    if isinstance(tree, list):
        tree = Lines({"tasks": tree})
    if not isinstance(tree, Lines):
        raise ConfigError(f"{path} must hold a list of tasks, each with its `goal`, or a section `tasks:` with one.")
    for key in tree:
        if key not in SECTIONS:
            raise ConfigError(
                f"{path}: there is no section {key!r}.{nearest(str(key), SECTIONS)} Known: defaults, tasks."
            )
    defaults, tasks = tree.get("defaults") or {}, tree.get("tasks")
    if not isinstance(defaults, dict) or not isinstance(tasks, list):
        raise ConfigError(f"{path}: `defaults` is a section with {', '.join(DEFAULT_KEYS)}, and `tasks` is a list.")
    for key in defaults:
        if key not in DEFAULT_KEYS:
            raise ConfigError(f"{path}: defaults cannot hold {key!r}. Known: {', '.join(DEFAULT_KEYS)}.")
    for number, task in enumerate(tasks, 1):
        if not isinstance(task, Lines):
            raise ConfigError(
                f"{path}: task {number} is {task!r}. Write `- goal: …`; it may also have {', '.join(KEYS[1:])}."
            )
        yield task.line, {**defaults, **task}
