"""Command-line options as `key=value` for a function: its parameter names, the types of its defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from distrl.errors import ConfigError, nearest
from distrl.loading import scalar


def read_options(function: Callable[..., Any], options: Sequence[str]) -> dict[str, Any]:
    """`steps=200` becomes {"steps": 200}. Raises `ConfigError` for a name or a type that the function does not take."""
    known = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not inspect.Parameter.empty
    }
    return dict(_read(option, known) for option in options)


def _read(option: str, known: dict[str, Any]) -> tuple[str, Any]:
    key, equals, text = option.partition("=")
    if not equals or key not in known:
        raise ConfigError(
            f"There is no option {key!r}.{nearest(key, known)} Write key=value; known: {', '.join(known) or 'none'}."
        )
    default = known[key]
    if isinstance(default, tuple):
        return key, tuple(text.split(","))
    value = text if isinstance(default, str) else scalar(text)
    if isinstance(default, float) and isinstance(value, int):
        value = float(value)
    if default is not None and type(value) is not type(default):
        raise ConfigError(f"{key} is {value!r}, but it must be like its default, {default!r}.")
    return key, value
