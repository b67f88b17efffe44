"""Divides the tasks of a set of templates into train and test splits that never share a goal.

- `train`: most combinations of the templates that are not held out.
- `test-instances`: the remaining quarter of their combinations, chosen by the hash of the goal within its template, so
  that adding a template changes no other's split.
- `test-templates`: templates marked `held_out`.
- `test-apps`: every template of the apps that are held out.

Device seeds of different splits come from disjoint ranges: no test episode starts on a phone seen in training.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from distrl.errors import UnknownName
from distrl.tasks.base import Edit, Params, Template
from distrl.types import Task

SPLITS = ("train", "test-instances", "test-templates", "test-apps")
SEEDS_PER_SPLIT = 2**28
TEST_SHARE = 4
"""One in this many combinations belongs to test-instances."""
HOME = ("launcher", "home")
IN_APP_SHARE = 0.3
"""Share of the tasks that start inside an app instead of on the home screen."""


@dataclass(frozen=True)
class TemplateSuite:
    """Templates by name, divided into splits. Implements `distrl.tasks.base.Suite`."""

    name: str
    members: Sequence[Template]
    held_out_apps: frozenset[str] = frozenset()
    start_pages: tuple[tuple[str, str], ...] = ()
    """Apps and pages that may be in front at the start, unless the template opens one."""

    def __post_init__(self) -> None:
        names = [template.name for template in self.members]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"Suite {self.name} has several templates named {', '.join(twice)}.")

    @cached_property
    def templates(self) -> Mapping[str, Template]:
        return {template.name: template for template in self.members}

    @cached_property
    def splits(self) -> tuple[str, ...]:
        """The splits that have tasks."""
        return tuple(split for split in SPLITS if any(self.combinations(t, split) for t in self.members))

    def only(self, names: Sequence[str]) -> TemplateSuite:
        """The suite with just the templates whose name begins with one of these: `settings/`, `clock/add_alarm`."""
        for name in names:
            if not any(template.name.startswith(name) for template in self.members):
                raise UnknownName(f"template of {self.name}", name, self.templates)
        return replace(self, members=[t for t in self.members if t.name.startswith(tuple(names))])

    def combinations(self, template: Template, split: str) -> list[dict[str, Any]]:
        """The parameter combinations of a template that belong to a split."""
        if template.app in self.held_out_apps:
            return template.combinations() if split == "test-apps" else []
        if template.held_out:
            return template.combinations() if split == "test-templates" else []
        tested = unseen_goals(template)
        wanted = {"train": False, "test-instances": True}.get(split)
        return [c for c in template.combinations() if (goals(template, c) in tested) is wanted]

    def goals(self, split: str) -> Iterator[str]:
        """Every goal of a split, in all phrasings."""
        for template in self.members:
            for combination in self.combinations(template, split):
                yield from goals(template, combination)

    def tasks(self, split: str, count: int, seed: int) -> list[Task]:
        """`count` tasks, spread evenly over the split's templates and shuffled. No combination
        of a template repeats before all were used. Deterministic in the seed; a smaller count gives a prefix."""
        if split not in self.splits:
            raise UnknownName("split", split, self.splits)
        rng = random.Random(f"{self.name}/{split}/{seed}")
        rounds = self._rounds(split, rng)
        return [self._task(*next(rounds), split, number, rng) for number in range(count)]

    def _rounds(self, split: str, rng: random.Random) -> Iterator[tuple[Template, dict[str, Any]]]:
        """Endless rounds of all templates, each round in a new order."""
        order = random.Random(rng.random())  # separate, so that the order does not depend on how many tasks are drawn
        chosen = [(t, c) for t in self.members if (c := self.combinations(t, split))]
        unused: dict[str, list[dict[str, Any]]] = {template.name: [] for template, _ in chosen}
        while True:
            for template, combinations in order.sample(chosen, len(chosen)):
                if not unused[template.name]:
                    unused[template.name] = order.sample(combinations, len(combinations))
                yield template, unused[template.name].pop()

    def _task(self, template: Template, params: Params, split: str, number: int, rng: random.Random) -> Task:
        phrasing = rng.choice(template.phrasings)
        page = rng.choice(self.start_pages) if self.start_pages and rng.random() < IN_APP_SHARE else HOME
        device_seed = SPLITS.index(split) * SEEDS_PER_SPLIT + rng.randrange(SEEDS_PER_SPLIT)
        return Task(
            id=f"{self.name}/{template.name}/{split}/{number}-{fingerprint(phrasing, params, device_seed)[:8]}",
            suite=self.name,
            split=split,
            template=template.name,
            goal=phrasing.format(**params),
            seed=device_seed,
            max_steps=template.max_steps,
            params=dict(params),
            start=_with_start_page(template.start(params, random.Random(device_seed)), page),
        )


def _with_start_page(edits: tuple[Edit, ...], page: tuple[str, str]) -> tuple[Edit, ...]:
    """The edits, and one that opens the page unless they open one themselves."""
    return edits if any(edit[0] == "open" for edit in edits) else (*edits, ("open", *page))


def goals(template: Template, params: Params) -> tuple[str, ...]:
    """The goal in each of its phrasings."""
    return tuple(phrasing.format(**params) for phrasing in template.phrasings)


def unseen_goals(template: Template) -> set[tuple[str, ...]]:
    """The goals of test-instances: the quarter with the lowest hashes, at least one.

    Goals are ranked, not combinations, so that combinations with equal goals are in the same split.
    """
    distinct = {goals(template, combination) for combination in template.combinations()}
    ranked = sorted(distinct, key=lambda phrased: fingerprint(template.name, *sorted(map(normalise, phrased))))
    return set(ranked[: max(1, len(ranked) // TEST_SHARE)])


def normalise(goal: str) -> str:
    """A goal without case, punctuation and repeated spaces, which do not make it a different goal."""
    return " ".join(re.findall(r"\w+", goal.casefold()))


def fingerprint(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
