"""From YAML and dotted overrides to settings, with errors that name the field and say what to write instead.

Generic over the settings class; `distrl.config` holds the classes themselves.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from distrl.choices import Choice
from distrl.errors import ConfigError, UnknownName, nearest

Model = TypeVar("Model", bound=BaseModel)
Tree = dict[str, Any]
NOTHING: Mapping[str, Any] = types.MappingProxyType({})


# --- YAML, as people write it --------------------------------------------------------------------

SCALARS = (
    ("bool", r"true|True|false|False", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9][0-9_]*\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan",
        "-+0123456789.",
    ),
    ("null", r"~|null|Null|", "~nN\0"),
    ("merge", r"<<", "<"),
)
"""The scalars of YAML 1.2. PyYAML speaks 1.1, where `1e-4` and `on` are not what they seem."""


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for tag, pattern, first in SCALARS:
        for character in first:
            # PyYAML looks the empty scalar up under the empty string.
            entry = (f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"))
            table.setdefault(character.replace("\0", ""), []).append(entry)
    return table


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = _resolvers()

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is written twice", node.start_mark)
        return super().construct_mapping(node, deep)


class Lines(dict[str, Any]):
    """A mapping of a YAML text that knows on which line it begins."""

    line = 0


class _LineLoader(_Loader):
    def construct_lines(self, node: yaml.MappingNode) -> Lines:
        found = Lines(self.construct_mapping(node, deep=True))
        found.line = node.start_mark.line + 1
        return found


_LineLoader.add_constructor("tag:yaml.org,2002:map", _LineLoader.construct_lines)


class _Dumper(yaml.SafeDumper):
    yaml_implicit_resolvers = _resolvers()


def dump(tree: Tree) -> str:
    """YAML that `read` turns back into the same tree."""
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def read(path: Path) -> Tree:
    """The mapping in a YAML file; an empty file is an empty mapping."""
    try:
        tree = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)  # a SafeLoader: runs no code
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"Cannot read {path}: {error}.") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path} is not valid YAML: {error}") from error
    if not isinstance(tree, dict | None):
        raise ConfigError(f"{path} must hold sections such as `learner:`, but it holds {tree!r}.")
    return tree or {}


def with_lines(text: str, source: str) -> Any:
    """Whatever a YAML text holds, its mappings as `Lines`."""
    try:
        return yaml.load(text, Loader=_LineLoader)  # a SafeLoader: runs no code
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError(f"{source} is not valid YAML: {error}") from error


def scalar(text: str) -> Any:
    """The value of an override, read as YAML would read it; what YAML cannot read is text."""
    try:
        value = yaml.load(text, Loader=_Loader)
    except yaml.YAMLError:
        return text
    return text if isinstance(value, dict) else value


# --- trees ---------------------------------------------------------------------------------------


def overlay(tree: Mapping[str, Any], overrides: Sequence[str], model: type[BaseModel]) -> Tree:
    """The tree with each `a.b=value` put in; a later one wins. The tree given is not changed.

    An override that chooses another algorithm or judge comes first, wherever it stands: it takes the tree's section
    over, without the keys that only the former one has.
    """
    given = [_split(override, model) for override in overrides]
    result: Tree = {key: dict(value) if isinstance(value, dict) else value for key, value in tree.items()}
    for field, choice in choices(model).items():
        names = [str(value) for path, value in given if path == f"{field}.{choice.key}"]
        if names and isinstance(result.get(field), dict):
            result[field] = choice.switched(result[field], names[-1])
    for path, value in given:
        *sections, last = path.split(".")
        place = result
        for section in sections:
            inner = place.get(section)
            place[section] = dict(inner) if isinstance(inner, dict) else {}
            place = place[section]
        place[last] = value
    for path, _ in given:
        if problem := _stranger(path, model, result):
            raise ConfigError(problem)
    return result


def _split(override: str, model: type[BaseModel]) -> tuple[str, Any]:
    path, equals, text = override.partition("=")
    path = path.strip()
    if not equals or not path:
        raise ConfigError(f"{override!r} is no override. Write key=value, e.g. {next(leaves(model))[0]}=….")
    return path, scalar(text)


def build(model: type[Model], tree: Tree, source: str) -> Model:
    """Settings from a tree. Raises `ConfigError` that names every wrong field, with its dotted path."""
    problems = list(_unknown_names(tree, model))
    problems = problems or [problem for path in _paths(tree, model) if (problem := _stranger(path, model, tree))]
    if problems:
        raise ConfigError(_report(source, problems))
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise ConfigError(_report(source, [_explain(model, tree, one) for one in error.errors()])) from None


def leaves(
    model: type[BaseModel], tree: Mapping[str, Any] = NOTHING, prefix: str = ""
) -> Iterator[tuple[str, type[BaseModel], str]]:
    """(dotted path, class, field name) of every field that holds a value and not a section; of a section that depends
    on a choice, those of what the tree chooses."""
    for name, kind in hints(model).items():
        if name not in model.model_fields:
            continue
        given = tree.get(name)
        if section := _section(kind, given):
            yield from leaves(section, given if isinstance(given, Mapping) else NOTHING, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", model, name


def hints(model: type[BaseModel]) -> dict[str, Any]:
    """Types of the fields, bounds included."""
    return typing.get_type_hints(model, include_extras=True)


def choices(model: type[BaseModel]) -> dict[str, Choice]:
    """The sections whose keys depend on what they name."""
    found = {name: _choice(kind) for name, kind in hints(model).items()}
    return {name: choice for name, choice in found.items() if choice is not None}


def _choice(kind: Any) -> Choice | None:
    return next((one for one in getattr(kind, "__metadata__", ()) if isinstance(one, Choice)), None)


def _section(kind: Any, given: object) -> type[BaseModel] | None:
    """The class of a section, or None for a field with a value. Raises `UnknownName`."""
    if choice := _choice(kind):
        return choice.model(given)
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _paths(tree: Mapping[str, Any], model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Dotted paths of all that a tree sets, down to the fields."""
    for key, value in tree.items():
        section = _section(hints(model).get(key), value)
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


# --- what to say when it is wrong ------------------------------------------------------------------


def _report(source: str, problems: Sequence[str]) -> str:
    if len(problems) == 1:
        return f"{source}: {problems[0]}"
    return f"{source}:\n" + "\n".join(f"  {problem}" for problem in problems)


def _stranger(path: str, model: type[BaseModel], tree: Mapping[str, Any]) -> str:
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


def _explain(model: type[BaseModel], tree: Mapping[str, Any], error: Any) -> str:
    """One pydantic error in our words: which field, what was given, what is expected."""
    owner, field = model, ""
    given: object = tree
    for part in error["loc"]:
        if part not in owner.model_fields:
            break  # pydantic goes on into the branches of a union; the field is known already
        field = f"{field}.{part}" if field else str(part)
        kind = hints(owner)[part]
        given = given.get(part) if isinstance(given, Mapping) else None
        if (section := _section(kind, given)) is None:
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
