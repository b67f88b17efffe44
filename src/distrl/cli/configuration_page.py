"""docs/configuration.md, written from the settings classes: `distrl config --markdown > docs/configuration.md`."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from distrl.choices import Choice
from distrl.config import CONFIG_FOLDERS, Config
from distrl.loading import choices, describe, hints
from distrl.registry import DEVICES, SUITES

HEAD = """# Configuration

A run is described by a YAML file and by overrides on the command line:

```
distrl train quickstart run.minutes=20 learner.learning_rate=1e-4
```

`distrl train` takes the name of a config, the path of a YAML file, or a run folder. A name is looked up in `./configs`
first and then among the configs that ship with the package. What a file leaves out has the default below.
An unknown key is an error, and so is a value of the wrong kind. `distrl config NAME` prints a config with every default
filled in; `distrl train NAME --dry-run` also checks that the suite, the device and the model are there.

`algorithm` and `judge` hold the settings of the one that they name; a key of another one is an error. An override that
names another one than the file (`algorithm.name=digirl`) takes the file's section over: keys that both have stay as the
file has them, since a key of the same name means the same in both, and keys that only the former one has are left out.
It does so wherever it stands among the overrides; an override that the new one does not have is an error.

This page is made from the classes of the settings by `make docs`; do not edit it by hand.
"""
DEVICE_OPTIONS = """What a device takes stands in its URL, behind a `?` and with `&` in between:
`adb://emulator-5554?tree=1&settle_s=0.5`. Yes and no are 1 and 0; several words have commas between them."""
SUITE_NOTE = "No suite has settings of its own: those above are read for each of them, and for files with tasks alike."
TABLE = ("| key | type | default | meaning |", "|---|---|---|---|")


def page() -> str:
    parts = [HEAD, _shipped()]
    chosen = choices(Config)
    for name, info in Config.model_fields.items():
        section: Any = info.annotation
        parts.append(_section(f"## {name}", name, section, section.model_fields, chosen.get(name)))
        if name in chosen:
            parts.extend(_chosen(name, section, chosen[name]))
        if name == "devices":
            parts.extend(_devices())
        if name == "tasks":
            parts.append(_suites())
    return "\n".join(parts)


def alternatives(config: Config) -> str:
    """What else a config may choose, and what each takes, as comments in YAML."""
    lines = ["# What may be chosen as well, and what it takes (`distrl config --markdown` explains everything):"]
    for section, choice in choices(Config).items():
        now = getattr(getattr(config, section), choice.key)
        for name, model in choice.models().items():
            if name != now:
                lines.append(f"#   {section}.{choice.key}={name}: {_listed(own_fields(model, choice))}")
    for scheme, options in _options():
        lines.append(f"#   devices.address={scheme}://…: {_listed(options.options)}")
    return "\n".join([*lines, ""])


def own_fields(model: type[BaseModel], choice: Choice) -> dict[str, FieldInfo]:
    """Those that not every alternative has, and not the one that holds the name."""
    shared = set.intersection(*(set(other.model_fields) for other in choice.models().values()))
    return {name: info for name, info in model.model_fields.items() if name not in {*shared, choice.key}}


def _shipped() -> str:
    rows = [f"| `{path.stem}` | {_purpose(path)} |" for path in sorted(CONFIG_FOLDERS[-1].glob("*.yaml"))]
    return "\n".join(["## Configs that ship", "", "| name | for |", "|---|---|", *rows, ""])


def _purpose(path: Path) -> str:
    """The comment that a config file begins with."""
    words = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        words.append(line.lstrip("# "))
    return " ".join(words)


def _section(
    title: str, name: str, section: type[BaseModel], fields: Mapping[str, FieldInfo], choice: Choice | None = None
) -> str:
    lines = [title, "", inspect.cleandoc(section.__doc__ or ""), ""]
    if fields:
        lines.extend(TABLE)
    for field, info in fields.items():
        if choice and field == choice.key:
            names = " or ".join(choice.registry.names())
            lines.append(_row(f"{name}.{field}", names, choice.default, info))
        else:
            lines.append(_row(f"{name}.{field}", describe(hints(section)[field]), info.default, info))
    return "\n".join([*lines, ""] if fields else lines)


def _chosen(section: str, base: type[BaseModel], choice: Choice) -> Iterator[str]:
    """A heading for each class of settings, under all the names that choose it."""
    classes: dict[type[BaseModel], list[str]] = {}
    for name, model in choice.models().items():
        classes.setdefault(model, []).append(name)
    for model, names in classes.items():
        own = {name: info for name, info in model.model_fields.items() if name not in base.model_fields}
        title = " or ".join(f"`{section}.{choice.key}={name}`" for name in names)
        yield _section(f"### {title}", section, model, own)


def _devices() -> Iterator[str]:
    yield DEVICE_OPTIONS + "\n"
    for scheme, options in _options():
        fields = {name: options.__pydantic_fields__[name] for name in options.options}
        rows = [_row(name, _in_url(hints(options)[name]), _in_query(info), info) for name, info in fields.items()]
        title, meaning = f"### `devices.address={scheme}://…`", inspect.cleandoc(options.__doc__)
        yield "\n".join([title, "", meaning, "", *TABLE, *rows, ""])


def _options() -> Iterator[tuple[str, Any]]:
    return ((scheme, DEVICES.load(scheme)) for scheme in DEVICES.names())


def _in_url(kind: Any) -> str:
    """The type of an option as it is written in a URL."""
    if kind is bool:
        return "0 or 1"
    several = getattr(kind, "__origin__", None) in (tuple, frozenset)
    return "words" if several else describe(kind).removesuffix(", or null")


def _in_query(info: FieldInfo) -> Any:
    """The default of an option as it would stand in a URL, where yes is 1 and nothing is left out."""
    if isinstance(info.default, bool):
        return int(info.default)
    if isinstance(info.default, tuple | frozenset):
        return ",".join(info.default)
    return "" if info.default is None else info.default


def _suites() -> str:
    lines = [SUITE_NOTE, ""]
    for name in SUITES.names():
        suite = SUITES.load(name)
        splits = ", ".join(f"`{split}`" for split in suite.splits)
        lines += [f"### `tasks.suite={name}`", "", f"{len(suite.templates)} templates; splits {splits}.", ""]
    return "\n".join(lines)


def _row(key: str, kind: str, default: Any, info: FieldInfo) -> str:
    meaning = " ".join((info.description or "").split()).replace("|", "\\|")
    return f"| `{key}` | {kind} | `{_default(default)}` | {meaning} |"


def _default(value: Any) -> str:
    """As it would stand in YAML."""
    return value if isinstance(value, str) else json.dumps(value, default=str).strip('"')


def _listed(names: Any) -> str:
    return ", ".join(names) or "nothing of its own"


if __name__ == "__main__":
    sys.stdout.write(page())
