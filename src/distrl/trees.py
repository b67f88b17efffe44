"""Plain trees of dicts and lists: read, write and compare them by path. A path is keys joined by "/"."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from distrl.types import Tree


@dataclass(frozen=True, slots=True)
class Change:
    """One place where two trees differ. A side that has nothing there is None."""

    path: str
    before: Any
    after: Any


def get(tree: Tree, path: str) -> Any:
    """The value at a path; a number steps into a list. Raises `KeyError` where there is nothing."""
    node: Any = tree
    for key in path.split("/"):
        try:
            node = node[int(key)] if isinstance(node, list) else node[key]
        except (LookupError, TypeError, ValueError):
            raise KeyError(f"nothing at {path!r}: no {key!r}") from None
    return node


def put(tree: Tree, path: str, value: Any) -> None:
    """Write a value at a path whose parent is there."""
    parent, _, key = path.rpartition("/")
    node = get(tree, parent) if parent else tree
    if isinstance(node, list):
        node[int(key)] = value
    else:
        node[key] = value


def diff(before: Any, after: Any, path: str = "") -> list[Change]:
    """Every change, as deep as it can be told: lists of one length item by item, other lists as a whole."""
    if type(before) is type(after):
        if isinstance(before, dict):
            return _diff_keys(before, after, path)
        if isinstance(before, list) and len(before) == len(after):
            return [c for i, (b, a) in enumerate(zip(before, after, strict=True)) for c in diff(b, a, _join(path, i))]
        if before == after:
            return []
    return [Change(path, before, after)]


def _diff_keys(before: Tree, after: Tree, path: str) -> list[Change]:
    changes: list[Change] = []
    for key in sorted(before.keys() | after.keys()):
        if key in before and key in after:
            changes += diff(before[key], after[key], _join(path, key))
        else:
            changes.append(Change(_join(path, key), before.get(key), after.get(key)))
    return changes


def _join(path: str, key: object) -> str:
    return f"{path}/{key}" if path else str(key)


def under(path: str, parents: Iterable[str]) -> bool:
    """Whether a path is one of the parents or lies below one."""
    return any(path == parent or path.startswith(parent + "/") for parent in parents)
