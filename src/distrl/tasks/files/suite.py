"""Tasks of a file as a suite, divided into splits.

A task may name its split. All others are divided by the hash of their goal alone, one in four to `test-instances`:
adding a goal changes no other's split, so a growing list never turns training tasks into test tasks.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

from distrl.errors import ConfigError
from distrl.tasks.base import Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.files.entry import TaskEntry, fill
from distrl.tasks.splits import HOME, SEEDS_PER_SPLIT, SPLITS, TEST_SHARE, TemplateSuite, fingerprint, normalise
from distrl.types import Task

ALL = "all"
"""The split that holds every task of the file, whatever split it is in."""
TRAIN, TEST, TEST_APPS = "train", "test-instances", "test-apps"
WORDS_IN_NAME = 8


def no_rule(ending: Ending) -> NoReturn:
    raise ConfigError("A task of a file has no rule that reads a phone's state. Set judge.kind=vlm, or chain.")


def no_oracle(ui: ScreenDriver, params: Params) -> Oracle:
    raise ConfigError("A task of a file has no oracle; demonstrations come from the suites general and webshop.")


@dataclass(frozen=True)
class FileTemplate(Template):
    """A task of a file; with parameters, a family of tasks."""

    check: Any = no_rule
    oracle: Any = no_oracle
    settings: Mapping[str, str] = field(default_factory=dict)
    """What a device needs: `package`, `link`, `reset`."""
    rules: Mapping[str, tuple[str, ...]] | None = None
    """What the last screen must show (`distrl.judges.screens`); None where a model judges."""
    split: str = ""
    """The split that the file names for it; empty if none."""
    line: int = 0

    @classmethod
    def of(cls, entry: TaskEntry, name: str) -> FileTemplate:
        wanted = {"package": entry.app, "link": entry.link, "reset": entry.reset}
        return cls(
            name,
            entry.app,
            (entry.goal,),
            entry.params or {},
            max_steps=entry.max_steps,
            settings={key: value for key, value in wanted.items() if value},
            rules=entry.rules,
            split=entry.split,
            line=entry.line,
        )

    def params_of(self, combination: Params) -> dict[str, Any]:
        """All that a task of this combination carries, as plain data."""
        if self.rules is None:
            return {**combination, **self.settings}
        judge = {rule: [fill(text, combination) for text in texts] for rule, texts in self.rules.items()}
        return {**combination, **self.settings, "judge": judge}


@dataclass(frozen=True)
class FileSuite(TemplateSuite):
    """The tasks of one file. Implements `distrl.tasks.base.Suite`."""

    source: str = ""
    tested: frozenset[str] = frozenset()
    """Normalised goals of test-instances, of the whole file also after `only`."""

    @classmethod
    def of(cls, entries: Sequence[TaskEntry], *, source: str, name: str) -> FileSuite:
        members = [FileTemplate.of(entry, label) for entry, label in zip(entries, _labels(entries), strict=True)]
        _check(members, source)
        free = {goal for member in members if not member.split for goal in _goals(member)}
        return cls(name, members, source=source, tested=frozenset(_unseen(free)))

    @cached_property
    def files(self) -> Mapping[str, FileTemplate]:
        """The templates with their own type."""
        return {template.name: template for template in self.members if isinstance(template, FileTemplate)}

    @cached_property
    def splits(self) -> tuple[str, ...]:
        return (*super().splits, ALL)

    def combinations(self, template: Template, split: str) -> list[dict[str, Any]]:
        assert isinstance(template, FileTemplate)
        found = template.combinations()
        if split == ALL or template.split:
            return found if split in (ALL, template.split) else []
        wanted = {TRAIN: False, TEST: True}.get(split)
        return [each for each in found if (normalise(template.phrasings[0].format(**each)) in self.tested) is wanted]

    def tasks(self, split: str, count: int, seed: int) -> list[Task]:
        if split in SPLITS and split not in self.splits:
            raise ConfigError(
                f"{self.source} has no task in the split {split!r}. Write `split: {split}` beside some of its tasks "
                f"(YAML), add goals, or choose another split: {', '.join(self.splits)}."
            )
        return super().tasks(split, count, seed)

    def _task(self, template: Template, params: Params, split: str, number: int, rng: random.Random) -> Task:
        assert isinstance(template, FileTemplate)
        seed = (*SPLITS, ALL).index(split) * SEEDS_PER_SPLIT + rng.randrange(SEEDS_PER_SPLIT)
        goal = fill(template.phrasings[0], params)
        return Task(
            id=f"{self.name}/{template.name}/{split}/{number}-{fingerprint(goal, seed)[:8]}",
            suite=self.name,
            split=split,
            template=template.name,
            goal=goal,
            seed=seed,
            max_steps=template.max_steps,
            params=template.params_of(params),
            start=(("open", *HOME),),  # else some simulated phones start inside an app
        )


def _goals(template: FileTemplate) -> list[str]:
    return [normalise(fill(template.phrasings[0], each)) for each in template.combinations()]


def _unseen(goals: Iterable[str]) -> set[str]:
    """The goals selected by their hash; at least one goal is left on either side if there are two."""
    ranked = sorted(goals, key=fingerprint)
    found = {goal for goal in ranked if int(fingerprint(goal)[:8], 16) % TEST_SHARE == 0}
    if not found and len(ranked) > 1:
        return set(ranked[:1])
    return found - set(ranked[-1:]) if len(found) == len(ranked) > 1 else found


def _labels(entries: Sequence[TaskEntry]) -> list[str]:
    """A name for each: its own, or its app and the first words of its goal."""
    plain = [entry.name or _slug(entry) for entry in entries]
    return [
        label if plain.count(label) == 1 or entry.name else f"{label}-{fingerprint(entry.goal)[:4]}"
        for entry, label in zip(entries, plain, strict=True)
    ]


def _slug(entry: TaskEntry) -> str:
    words = re.findall(r"[^\W_]+", entry.goal.casefold())[:WORDS_IN_NAME]
    return "/".join(part for part in (entry.app, "-".join(words) or f"line-{entry.line}") if part)


def _check(members: Sequence[FileTemplate], source: str) -> None:
    """No goal twice, and no app both in test-apps and in another split."""
    told: dict[str, FileTemplate] = {}
    for member in members:
        for what, text in [("name", member.name), *(("goal", goal) for goal in _goals(member))]:
            other = told.setdefault(f"{what} {text}", member)
            if other is not member:
                raise ConfigError(f"{source}, line {member.line}: line {other.line} has the same {what}. Change one.")
    unseen = {member.app for member in members if member.split == TEST_APPS}
    for member in members:
        if member.split == TEST_APPS and not member.app:
            raise ConfigError(f"{source}, line {member.line}: the split test-apps needs to know the `app`.")
        if member.app in unseen and member.split != TEST_APPS:
            raise ConfigError(
                f"{source}, line {member.line}: {member.app} is an app of test-apps elsewhere in the file; "
                "then all its tasks must be: write `split: test-apps` here too."
            )
