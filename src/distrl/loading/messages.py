"""What to say when a config is wrong: which field, what was given, what would be right."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from distrl.choices import Choice
from distrl.errors import nearest
from distrl.loading.fields import choices, hints, leaves, section_of


def report(source: str, problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return f"{source}: {problems[0]}"
    return f"{source}:\n" + "\n".join(f"  {problem}" for problem in problems)


def stranger(path: str, model: type[BaseModel], tree: Mapping[str, Any]) -> str:
    """What to say of a path that no setting has; empty for one that exists."""
    known = [leaf for leaf, _, _ in leaves(model, tree)]
    if path in known or path in {leaf.rpartition(".")[0] for leaf in known}:
        return ""
    if moved := getattr(model, "moved", {}).get(path):
        return f"The setting {path!r} is {moved!r} now."
    section, _, name = path.rpartition(".")
    namesakes = [leaf for leaf in known if leaf.rpartition(".")[2] == name]
    siblings = [leaf for leaf in known if leaf.rpartition(".")[0] == section]
    hint = nearest(path, namesakes) or (f" Did you mean {namesakes[0]!r}?" if namesakes else "")
    hint = hint or nearest(path, siblings) or nearest(path, known)
    if choice := choices(model).get(section):
        return _not_chosen(path, choice, tree[section], hint)
    return f"There is no setting {path!r}.{hint} `distrl config` lists them all."


def _not_chosen(path: str, choice: Choice, section: object, hint: str) -> str:
    """What to say of a key that the thing chosen does not have, and perhaps another has."""
    where, _, field = path.rpartition(".")
    chosen = f"{where}.{choice.key}"
    own = [name for name in choice.model(section).model_fields if name != choice.key]
    owners = choice.owners(field)
    more = f" It belongs to {chosen}={' or '.join(owners)}." if owners else hint
    name = choice.name(section)
    has = ", ".join(own) or "no settings of its own"
    return f"There is no setting {path!r} with {chosen}={name}.{more} {name} has {has}."


def explain(model: type[BaseModel], tree: Mapping[str, Any], error: Any) -> str:
    """One pydantic error in our words: which field, what was given, what is expected."""
    owner, field = model, ""
    given: object = tree
    for part in error["loc"]:
        if part not in owner.model_fields:
            break  # pydantic goes on into the branches of a union; the field is known already
        field = f"{field}.{part}" if field else str(part)
        kind = hints(owner)[part]
        given = given.get(part) if isinstance(given, Mapping) else None
        if (section := section_of(kind, given)) is None:
            if error["type"] == "value_error":  # a rule of ours, which says itself what may be shown
                return f"{field} {error['ctx']['error']}."
            return f"{field} is {error['input']!r}, but it must be {describe(kind)}."
        owner = section
    return f"{field} is a section, with {', '.join(owner.model_fields)}; {error['input']!r} was given."


def describe(kind: Any) -> str:
    """A type in words: `a whole number above 0, or null`."""
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        words = [describe(one) for one in typing.get_args(kind) if one is not type(None)]
        return ", or ".join([*words, "null"])
    if origin is Literal:
        return " or ".join(str(one) for one in typing.get_args(kind))
    if origin is typing.Annotated:
        inner, *metadata = typing.get_args(kind)
        return describe(inner) + _bounds(metadata)
    if typing.get_origin(kind) is tuple:
        return f"a list, each {describe(typing.get_args(kind)[0])}"
    return {int: "a whole number", float: "a number", bool: "true or false", str: "text", Path: "a path"}[kind]


def _bounds(metadata: Sequence[Any]) -> str:
    flat = [bound for one in metadata for bound in getattr(one, "metadata", None) or [one]]
    limits = {
        name: f"{getattr(one, name):g}"
        for name in ("gt", "ge", "lt", "le")
        for one in flat
        if getattr(one, name, None) is not None
    }
    if {"ge", "le"} <= limits.keys():
        return f" from {limits['ge']} to {limits['le']}"
    phrases = {"gt": "above", "ge": "from", "lt": "below", "le": "up to"}
    upward = {"ge": " up"}
    return "".join(f" {phrases[name]} {limit}{upward.get(name, '')}" for name, limit in limits.items())
