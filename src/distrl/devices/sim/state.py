"""The phone's tree: copies of it, differences between two, and the edits a task makes at its start."""

from __future__ import annotations

import random
from typing import Any

from distrl.devices.sim.apps.base import new_frame
from distrl.errors import DeviceError
from distrl.types import Tree

Change = tuple[str, Any, Any]
"""Path joined by "/", value before, value after; None stands for what is not there."""


class BadEdit(DeviceError):
    """A task's start edit names a place that this phone does not have."""


def copy(tree: Any) -> Any:
    """An unshared copy of plain data."""
    if isinstance(tree, dict):
        return {key: copy(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [copy(value) for value in tree]
    return tree


def diff(before: Any, after: Any, path: str = "") -> list[Change]:
    """Every place where two trees differ. Lists of different length differ as a whole."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        return [c for key in keys for c in diff(before.get(key), after.get(key), f"{path}/{key}" if path else str(key))]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [c for i, (old, new) in pairs for c in diff(old, new, f"{path}/{i}" if path else str(i))]
    return [] if before == after and type(before) is type(after) else [(path, before, after)]


def apply(state: Tree, edits: tuple[tuple[Any, ...], ...], seed: int) -> None:
    """Apply a task's start edits in order; see `distrl.tasks.base` for what they mean."""
    for index, edit in enumerate(edits):
        kind = edit[0]
        if kind == "set":
            parent, key = _parent(state, edit[1])
            parent[key] = copy(edit[2])
        elif kind == "add":
            items = _list(state, edit[1])
            place = random.Random(f"{seed}/edit/{index}").randint(0, len(items))
            items.insert(place, copy(edit[2]))
        elif kind == "drop":
            items = _list(state, edit[1])
            items[:] = [item for item in items if not _matches(item, edit[2])]
        elif kind == "open":
            _open(state, *edit[1:])
        else:
            raise BadEdit(f"There is no start edit {kind!r}; known are set, add, drop and open.")


def _open(state: Tree, app: str, page: str, args: dict[str, Any] | None = None) -> None:
    if app not in state:
        raise BadEdit(f"The start edit opens {app!r}, which is no app of this phone: {', '.join(sorted(state))}.")
    if app != "launcher":
        state["os"]["stack"].append(new_frame(app, page, args))


def _matches(item: Any, wanted: Any) -> bool:
    if isinstance(item, dict) and isinstance(wanted, dict):
        return all(key in item and item[key] == value for key, value in wanted.items())
    return bool(item == wanted)


def _parent(state: Tree, path: str) -> tuple[Any, Any]:
    node: Any = state
    *parents, last = path.split("/")
    for part in parents:
        node = _child(node, part, path)
    if isinstance(node, list):
        _child(node, last, path)
        return node, int(last)
    if not isinstance(node, dict):
        raise BadEdit(f"The start edit's path {path!r} runs through a plain value.")
    return node, last


def _child(node: Any, part: str, path: str) -> Any:
    try:
        return node[int(part)] if isinstance(node, list) else node[part]
    except (KeyError, IndexError, ValueError, TypeError):
        known = sorted(node) if isinstance(node, dict) else f"{len(node)} items" if isinstance(node, list) else node
        raise BadEdit(f"The start edit's path {path!r} has no {part!r}; there is {known}.") from None


def _list(state: Tree, path: str) -> list[Any]:
    parent, key = _parent(state, path)
    items = _child(parent, str(key), path)
    if not isinstance(items, list):
        raise BadEdit(f"The start edit's path {path!r} is no list.")
    return items
