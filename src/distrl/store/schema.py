"""Validation of values from disk or network. Raises `CorruptData` for unexpected types."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

from distrl.errors import CorruptData

MAX_DEPTH = 32
"""Deepest nesting of plain data in a task's parameters."""

T = TypeVar("T")


def refuse(why: str, cause: BaseException | None = None) -> NoReturn:
    raise CorruptData(f"These bytes are no trajectory: {why}. They were not changed; nothing was inserted.") from cause


def fields(value: Any, *names: str) -> list[Any]:
    if not isinstance(value, dict) or set(value) != set(names):
        refuse(f"a map should have exactly the keys {', '.join(names)}")
    return [value[name] for name in names]


def items(value: Any, count: int) -> list[Any]:
    if not isinstance(value, list) or len(value) != count:
        refuse(f"a list should have {count} values")
    return value


def list_of(value: Any, read: Callable[[Any], T]) -> list[T]:
    if not isinstance(value, list):
        refuse(f"a list was expected, not {type(value).__name__}")
    return [read(item) for item in value]


def text(value: Any) -> str:
    if not isinstance(value, str):
        refuse(f"text was expected, not {type(value).__name__}")
    return value


def integer(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        refuse(f"an integer was expected, not {type(value).__name__}")
    return value


def count(value: Any) -> int:
    count = integer(value)
    if not 0 <= count < 2**31:
        refuse(f"{count} is no count, size or version")
    return count


def number(value: Any) -> float:
    if not isinstance(value, float):
        refuse(f"a float was expected, not {type(value).__name__}")
    return value


def finite(value: Any) -> float:
    if not math.isfinite(number(value)):
        refuse("a time is not finite")
    return float(value)


def plain(value: Any, depth: int = 0) -> Any:
    """Dicts with text keys, lists, text, numbers, booleans and None; nothing else."""
    if depth > MAX_DEPTH:
        refuse(f"its parameters are nested deeper than {MAX_DEPTH}")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, Mapping):
        return {text(key): plain(item, depth + 1) for key, item in value.items()}
    refuse(f"its parameters hold a value of type {type(value).__name__}")
