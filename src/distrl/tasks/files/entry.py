"""One task of a task file, checked field by field."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distrl.errors import nearest
from distrl.tasks.splits import SPLITS

KEYS = ("goal", "name", "app", "link", "reset", "judge", "max_steps", "params", "split")
DEFAULT_KEYS = ("app", "link", "reset", "judge", "max_steps", "split")
"""What `defaults` may hold."""
RESETS = ("home", "clear", "none")
RULES = ("foreground", "shows", "answer")
JUDGED_BY_MODEL = "vlm"
RESERVED_PARAMS = ("package", "link", "reset", "judge")
"""Names of parameters that devices and judges read; not free for `params`."""
MAX_STEPS, LARGEST_MAX_STEPS = 15, 1000
MAX_CHARS = 500
MAX_INSTANCES = 10_000
PACKAGE = re.compile(r"[A-Za-z]\w*(?:\.\w+)+", re.ASCII)
WEB = re.compile(r"https?://[\w.-]+(?::\d+)?(?:[/?#][\x21-\x7e]*)?", re.ASCII)
NAME = re.compile(r"[\w./-]+", re.ASCII)


class Problem(Exception):  # noqa: N818 - the caller raises `ConfigError` with file and line
    """What is wrong with a task, and what to write instead."""


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """One task of a file; with `params`, a family of tasks."""

    line: int
    goal: str
    """With {name} placeholders for the parameters; other braces are doubled."""
    name: str = ""
    app: str = ""
    link: str = ""
    reset: str = ""
    rules: Mapping[str, tuple[str, ...]] | None = None
    """What the last screen must show; None where a model judges."""
    max_steps: int = MAX_STEPS
    params: Mapping[str, tuple[Any, ...]] | None = None
    split: str = ""

    @classmethod
    def parse(cls, line: int, tree: Mapping[str, Any]) -> TaskEntry:
        """Raises `Problem`."""
        for key in tree:
            if key not in KEYS:
                raise Problem(f"a task has no {key!r}.{nearest(str(key), KEYS)} Known: {', '.join(KEYS)}.")
        goal = _text(tree, "goal")
        if not goal:
            raise Problem("a task needs a `goal`.")
        params = _params(tree.get("params"))
        rules = _rules(tree.get("judge", JUDGED_BY_MODEL))
        for template in (goal, *(text for texts in (rules or {}).values() for text in texts)):
            _check_places(template, params)
        unused = sorted(set(params) - _places(goal))
        if unused:
            raise Problem(
                f"the goal says nothing of {', '.join(unused)}: write {{{unused[0]}}} where its value belongs."
            )
        return cls(
            line,
            goal,
            name=_matching(tree, "name", NAME, "letters, digits, dots, slashes, dashes"),
            app=_matching(tree, "app", PACKAGE, "a package such as com.android.settings"),
            link=_matching(
                tree, "link", WEB, "a web address such as https://example.com; a reset opens no other links"
            ),
            reset=_one_of(tree, "reset", RESETS),
            rules=rules,
            max_steps=_steps(tree.get("max_steps", MAX_STEPS)),
            params=params,
            split=_one_of(tree, "split", SPLITS),
        )


def fill(text: str, params: Mapping[str, Any]) -> str:
    """The text with its places filled. Places are plain names: `_check_places` has seen to it."""
    return text.format(**params)


def _text(tree: Mapping[str, Any], key: str) -> str:
    value = tree.get(key, "")
    if not isinstance(value, str):
        raise Problem(f"{key} is {value!r}, but it must be text; put quotes around it.")
    value = " ".join(value.split())
    if len(value) > MAX_CHARS or not value.isprintable():
        raise Problem(f"{key} must be printable and have {MAX_CHARS} letters at most.")
    return value


def _matching(tree: Mapping[str, Any], key: str, pattern: re.Pattern[str], kind: str) -> str:
    value = _text(tree, key)
    if value and not pattern.fullmatch(value):
        raise Problem(f"{key} is {value!r}, but it must be {kind}.")
    return value


def _one_of(tree: Mapping[str, Any], key: str, known: tuple[str, ...]) -> str:
    value = _text(tree, key)
    if value and value not in known:
        raise Problem(f"there is no {key} {value!r}.{nearest(value, known)} Known: {', '.join(known)}.")
    return value


def _steps(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST_MAX_STEPS:
        raise Problem(f"max_steps is {value!r}, but it must be a whole number from 1 to {LARGEST_MAX_STEPS}.")
    return value


def _params(tree: Any) -> dict[str, tuple[Any, ...]]:
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise Problem(f"params is {tree!r}, but it must give a list of values for each name: city: [Rome, Oslo].")
    for name, values in tree.items():
        if not isinstance(name, str) or not name.isidentifier() or name in RESERVED_PARAMS:
            raise Problem(f"a parameter cannot be called {name!r}; take another word.")
        fine = isinstance(values, list) and all(isinstance(one, str | int | float) for one in values)
        if not fine or not values or len(set(map(str, values))) < len(values):
            raise Problem(f"params.{name} is {values!r}, but it must be a list of words or numbers, each of them once.")
    count = math.prod(len(values) for values in tree.values())
    if count > MAX_INSTANCES:
        raise Problem(f"its parameters combine to {count} tasks; {MAX_INSTANCES} is the most.")
    return {name: tuple(values) for name, values in tree.items()}


def _rules(tree: Any) -> dict[str, tuple[str, ...]] | None:
    if tree == JUDGED_BY_MODEL:
        return None
    if not isinstance(tree, dict) or not tree:
        raise Problem(f"judge is {tree!r}, but it must be `vlm`, or rules: {', '.join(RULES)}.")
    for key in tree:
        if key not in RULES:
            raise Problem(f"judge has no rule {key!r}.{nearest(str(key), RULES)} Known: {', '.join(RULES)}.")
    rules = {key: tuple(_wanted(key, value)) for key, value in tree.items()}
    for package in rules.get("foreground", ()):
        if not PACKAGE.fullmatch(re.sub(r"[{}]", "", package)):
            raise Problem(f"judge.foreground is {package!r}, but it must be a package such as com.android.settings.")
    return rules


def _wanted(key: str, value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    texts = [_text({key: one}, key) for one in values]
    if not texts or not all(texts):
        raise Problem(f"judge.{key} is {value!r}, but it must be text, or a list of texts.")
    return texts


def _places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def _check_places(text: str, params: Mapping[str, Any]) -> None:
    """Only plain names may stand in braces: no attributes, indices or formats."""
    try:
        pieces = list(string.Formatter().parse(text))
    except ValueError as error:
        raise Problem(f"{text!r}: {error}; a brace that is no place for a parameter is written twice.") from None
    for _, name, form, conversion in pieces:
        if name is None:
            continue
        if form or conversion or not name.isidentifier():
            raise Problem(f"{text!r}: {{{name}}} must be the plain name of a parameter.")
        if name not in params:
            raise Problem(f"{text!r} has a place {{{name}}} and no params.{name}: add `params: {{{name}: […]}}`.")
