"""How a set of templates becomes train and test tasks that never share a goal.

- `train`: most combinations of the templates that are not held out.
- `test-instances`: the remaining quarter of their combinations. Which ones is decided by the hash of the goal
  inside its template, so that adding a template moves nothing.
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
"""One combination in this many belongs to test-instances."""
HOME = ("launcher", "home")
ELSEWHERE_SHARE = 0.3
"""Of the tasks, this share starts inside an app and not on the home screen."""


@dataclass(frozen=True)
class TemplateSuite:
    """Templates by name, divided into splits. Implements `distrl.tasks.base.Suite`."""

    name: str
    members: Sequence[Template]
    held_out_apps: frozenset[str] = frozenset()
    elsewhere: tuple[tuple[str, str], ...] = ()
    """Apps and pages that a phone may have in front at the start, where the template does not say what is."""

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
        """Every goal that a split can ever ask for."""
        for template in self.members:
            for combination in self.combinations(template, split):
                yield from goals(template, combination)

    def tasks(self, split: str, count: int, seed: int) -> list[Task]:
        """`count` tasks, spread evenly over the split's templates and shuffled. A template's combinations are used
        up before one comes again. The same for the same seed, and a smaller count gives a prefix."""
        if split not in self.splits:
            raise UnknownName("split", split, self.splits)
        rng = random.Random(f"{self.name}/{split}/{seed}")
        rounds = self._rounds(split, rng)
        return [self._task(*next(rounds), split, number, rng) for number in range(count)]

    def _rounds(self, split: str, rng: random.Random) -> Iterator[tuple[Template, dict[str, Any]]]:
        """Each template once per round, in a new order each time, for ever."""
        order = random.Random(rng.random())  # its own: drawing tasks one by one must not depend on their number
        chosen = [(t, c) for t in self.members if (c := self.combinations(t, split))]
        waiting: dict[str, list[dict[str, Any]]] = {template.name: [] for template, _ in chosen}
        while True:
            for template, combinations in order.sample(chosen, len(chosen)):
                if not waiting[template.name]:
                    waiting[template.name] = order.sample(combinations, len(combinations))
                yield template, waiting[template.name].pop()

    def _task(self, template: Template, params: Params, split: str, number: int, rng: random.Random) -> Task:
        phrasing = rng.choice(template.phrasings)
        place = rng.choice(self.elsewhere) if self.elsewhere and rng.random() < ELSEWHERE_SHARE else HOME
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
            start=_opened(template.start(params, random.Random(device_seed)), place),
        )


def _opened(edits: tuple[Edit, ...], place: tuple[str, str]) -> tuple[Edit, ...]:
    """The edits, and one that puts a page in front unless they have their own."""
    return edits if any(edit[0] == "open" for edit in edits) else (*edits, ("open", *place))


def goals(template: Template, params: Params) -> tuple[str, ...]:
    """The goal in each of its phrasings."""
    return tuple(phrasing.format(**params) for phrasing in template.phrasings)


def unseen_goals(template: Template) -> set[tuple[str, ...]]:
    """The goals of test-instances: those of the lowest hashes, a quarter of all and at least one.

    Goals are ranked, not combinations: two combinations that read the same fall on the same side.
    """
    distinct = {goals(template, combination) for combination in template.combinations()}
    ranked = sorted(distinct, key=lambda phrased: fingerprint(template.name, *sorted(map(normalise, phrased))))
    return set(ranked[: max(1, len(ranked) // TEST_SHARE)])


def normalise(goal: str) -> str:
    """A goal without the differences that do not make it another goal: case, spaces, punctuation."""
    return " ".join(re.findall(r"\w+", goal.casefold()))


def fingerprint(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()
