"""The phone's tree: copies of it, and the edits that a task makes at its start."""

from __future__ import annotations

import random
from typing import Any

from distrl import trees
from distrl.devices.sim.apps.base import new_frame
from distrl.errors import DeviceError
from distrl.types import Tree

PLAIN = frozenset((str, int, float, bool, type(None)))
Edits = tuple[tuple[Any, ...], ...]


class BadEdit(DeviceError):
    """A start edit of a task names a path that this phone does not have."""


def copy(tree: Any) -> Any:
    """An unshared copy of plain data; tuples become lists, as they do in JSON."""
    if isinstance(tree, dict):
        return {key: value if type(value) in PLAIN else copy(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [value if type(value) in PLAIN else copy(value) for value in tree]
    return tree


def apply(state: Tree, edits: Edits, seed: int) -> None:
    """Apply a task's start edits in order; see `distrl.tasks.base` for what they mean."""
    for index, edit in enumerate(edits):
        try:
            _apply(state, edit, random.Random(f"{seed}/edit/{index}"))
        except (AttributeError, LookupError, TypeError, ValueError) as problem:
            raise BadEdit(f"This phone cannot start with the edit {edit!r}: {problem}.") from problem


def _apply(state: Tree, edit: tuple[Any, ...], rng: random.Random) -> None:
    kind, *arguments = edit
    if kind == "open":
        _open(state, *arguments)
        return
    path, value = arguments
    if kind == "set":
        trees.put(state, path, copy(value))
    elif kind == "add":
        items = trees.get(state, path)
        items.insert(rng.randint(0, len(items)), copy(value))
    elif kind == "drop":
        items = trees.get(state, path)
        items[:] = [item for item in items if not _matches(item, value)]
    else:
        raise ValueError("known kinds are set, add, drop and open")


def _open(state: Tree, app: str, page: str, args: dict[str, Any] | None = None) -> None:
    if app not in state:
        raise ValueError(f"its apps are {', '.join(sorted(state))}")
    if app != "launcher":
        state["os"]["stack"].append(new_frame(app, page, args))


def _matches(item: Any, wanted: Any) -> bool:
    if isinstance(item, dict) and isinstance(wanted, dict):
        return all(key in item and item[key] == value for key, value in wanted.items())
    return bool(item == wanted)
