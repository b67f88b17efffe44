"""docs/configuration.md, written from the settings classes: `distrl config --markdown > docs/configuration.md`."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from distrl.config import CONFIG_FOLDERS, Config
from distrl.loading import describe, hints

HEAD = """# Configuration

A run is described by a YAML file and by overrides on the command line:

```
distrl train quickstart run.minutes=20 learner.learning_rate=1e-4
```

`distrl train` takes the name of a config, the path of a YAML file, or a run folder. A name is looked up in `./configs`
first and then among the configs that ship with the package. What a file leaves out has the default below.
An unknown key is an error, and so is a value of the wrong kind. `distrl config NAME` prints a config with every default
filled in; `distrl train NAME --dry-run` also checks that the suite, the device and the model are there.

This page is made from `src/distrl/config/` by `make docs`; do not edit it by hand.
"""


def page() -> str:
    parts = [HEAD, _shipped()]
    for name, kind in hints(Config).items():
        if name in Config.model_fields:
            parts.append(_section(name, kind))
    return "\n".join(parts)


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


def _section(name: str, section: type[BaseModel]) -> str:
    lines = [f"## {name}", "", inspect.cleandoc(section.__doc__ or ""), "", "| key | type | default | meaning |"]
    lines.append("|---|---|---|---|")
    for field, info in section.model_fields.items():
        meaning = " ".join((info.description or "").split()).replace("|", "\\|")
        kind = describe(hints(section)[field])
        lines.append(f"| `{name}.{field}` | {kind} | `{_default(info.default)}` | {meaning} |")
    return "\n".join([*lines, ""])


def _default(value: Any) -> str:
    """As it would stand in YAML."""
    return value if isinstance(value, str) else json.dumps(value, default=str).strip('"')


if __name__ == "__main__":
    print(page(), end="")
