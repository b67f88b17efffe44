"""How rules look at lists of stored records: find one, compare the rest, compare words as people do."""

from __future__ import annotations

from typing import Any

from distrl.types import Tree


def find(records: list[Tree], **keys: Any) -> Tree | None:
    """The first record that has all these values; words match in any case."""
    return next((r for r in records if matches(r, keys)), None)


def matches(record: Tree, keys: Tree) -> bool:
    return all(same(record.get(key), value) for key, value in keys.items())


def others(records: list[Tree], ignoring: tuple[str, ...] = ("unread",), **keys: Any) -> list[Tree]:
    """The records that do not match (all of them where no keys are given), without what looking around may change."""
    kept = [r for r in records if not keys or not matches(r, keys)]
    return [{k: v for k, v in r.items() if k not in ignoring} for r in kept]


def same(left: Any, right: Any) -> bool:
    """Equal; words are equal in any case, spacing and closing punctuation."""
    if isinstance(left, str) and isinstance(right, str):
        return plain(left) == plain(right)
    return bool(left == right)


def plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?\"'")
