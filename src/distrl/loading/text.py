"""YAML as people write it: that of version 1.2, read by the safe loader, each key once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from distrl.errors import ConfigError

Tree = dict[str, Any]

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
