"""The fields of settings: their types, their dotted paths, and which class a section has where that is a choice."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from distrl.choices import Choice

NOTHING: Mapping[str, Any] = types.MappingProxyType({})


def leaves(
    model: type[BaseModel], tree: Mapping[str, Any] = NOTHING, prefix: str = ""
) -> Iterator[tuple[str, type[BaseModel], str]]:
    """(dotted path, class, field name) of every field that holds a value and not a section; of a section that depends
    on a choice, those of what the tree chooses."""
    for name, kind in hints(model).items():
        if name not in model.model_fields:
            continue
        given = tree.get(name)
        if section := section_of(kind, given):
            yield from leaves(section, given if isinstance(given, Mapping) else NOTHING, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", model, name


@functools.cache
def hints(model: type[BaseModel]) -> dict[str, Any]:
    """Types of the fields, bounds included."""
    return typing.get_type_hints(model, include_extras=True)


def choices(model: type[BaseModel]) -> dict[str, Choice]:
    """The sections whose keys depend on what they name."""
    found = {name: _choice(kind) for name, kind in hints(model).items()}
    return {name: choice for name, choice in found.items() if choice is not None}


def _choice(kind: Any) -> Choice | None:
    return next((one for one in getattr(kind, "__metadata__", ()) if isinstance(one, Choice)), None)


def section_of(kind: Any, given: object) -> type[BaseModel] | None:
    """The class of a section, or None for a field with a value. Raises `UnknownName`."""
    if choice := _choice(kind):
        return choice.model(given)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
