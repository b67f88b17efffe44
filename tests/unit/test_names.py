"""One name, one class: a public class name means one thing in the whole package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import distrl

PACKAGE = Path(distrl.__file__).parent


def public_classes() -> dict[str, list[str]]:
    """Class name → `module:line` of every definition at the top of a module."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(f"{path.relative_to(PACKAGE.parent)}:{node.lineno}")
    return found


def test_no_two_public_classes_have_the_same_name():
    places = public_classes()
    assert len(places) > 100
    shared = {name: where for name, where in places.items() if len(where) > 1}
    twice = [f"{name}: {' and '.join(where)}" for name, where in sorted(shared.items())]
    assert not twice, "Rename all but one of:\n" + "\n".join(twice)
