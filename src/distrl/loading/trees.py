"""From a tree, as YAML holds it, and dotted overrides to settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from distrl.errors import ConfigError, UnknownName
from distrl.loading.fields import choices, hints, leaves, section_of
from distrl.loading.messages import explain, report, stranger
from distrl.loading.text import Tree, scalar

Model = TypeVar("Model", bound=BaseModel)


def overlay(tree: Mapping[str, Any], overrides: Sequence[str], model: type[BaseModel]) -> Tree:
    """The tree with each `a.b=value` put in; a later one wins. The tree given is not changed.

    An override that chooses another algorithm or judge comes first, wherever it stands: it takes the tree's section
    over, without the keys that only the former one has.
    """
    given = [_split(override, model) for override in overrides]
    result = _switched(tree, dict(given), model)
    for path, value in given:
        _put(result, path, value)
    for path, _ in given:
        if problem := stranger(path, model, result):
            raise ConfigError(problem)
    return result


def _switched(tree: Mapping[str, Any], given: Mapping[str, Any], model: type[BaseModel]) -> Tree:
    """A copy of the tree, each section as what the overrides choose takes it."""
    result: Tree = {key: dict(value) if isinstance(value, dict) else value for key, value in tree.items()}
    for field, choice in choices(model).items():
        chosen = f"{field}.{choice.key}"
        if chosen in given and isinstance(result.get(field), dict):
            result[field] = choice.switched(result[field], str(given[chosen]))
    return result


def _put(tree: Tree, path: str, value: Any) -> None:
    *sections, last = path.split(".")
    place = tree
    for section in sections:
        inner = place.get(section)
        place[section] = dict(inner) if isinstance(inner, dict) else {}
        place = place[section]
    place[last] = value


def _split(override: str, model: type[BaseModel]) -> tuple[str, Any]:
    path, equals, text = override.partition("=")
    path = path.strip()
    if not equals or not path:
        raise ConfigError(f"{override!r} is no override. Write key=value, e.g. {next(leaves(model))[0]}=….")
    return path, scalar(text)


def build(model: type[Model], tree: Tree, source: str) -> Model:
    """Settings from a tree. Raises `ConfigError` that names every wrong field, with its dotted path."""
    problems = list(_unknown_names(tree, model))
    problems = problems or [problem for path in _paths(tree, model) if (problem := stranger(path, model, tree))]
    if problems:
        raise ConfigError(report(source, problems))
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(report(source, [explain(model, tree, one) for one in error.errors()])) from None


def _paths(tree: Mapping[str, Any], model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Dotted paths of all that a tree sets, down to the fields."""
    for key, value in tree.items():
        section = section_of(hints(model).get(key), value)
        if section and isinstance(value, dict):
            yield from _paths(value, section, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def _unknown_names(tree: Mapping[str, Any], model: type[BaseModel]) -> Iterator[str]:
    """What to say of choices that there are not."""
    for field, choice in choices(model).items():
        try:
            choice.model(tree.get(field))
        except UnknownName as error:
            yield f"{field}.{choice.key}: {error}"
