"""The task file of a run: kept in its folder, so that the run can be gone on with and repeated whatever becomes of the
file it was started with. And what a suite or a file holds, for whoever wants to know."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from distrl.config import Config
from distrl.config.playing import is_task_file
from distrl.store.folder import TASKS
from distrl.tasks.base import load_suite
from distrl.tasks.files.reading import read_text
from distrl.tasks.files.suite import FileSuite
from distrl.tasks.splits import TemplateSuite
from distrl.types import Tree

EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class TaskFile:
    """A task file as it was when the run began."""

    source: str
    data: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def name(self) -> str:
        """In the run folder. Another content has another name."""
        path = Path(self.source)
        return f"{path.stem}-{self.digest[:8]}{path.suffix}"

    @property
    def files(self) -> Mapping[str, bytes]:
        return {self.name: self.data}

    def summary(self) -> Tree:
        return {"file": self.source, "sha256": self.digest}


def keep(config: Config) -> tuple[Config, TaskFile | None]:
    """The config with its task file where the run folder keeps it, and the file that has to be put there: none where
    it is there already, or where the tasks come from no file."""
    suite = config.tasks.suite
    kept = config.run_folder.absolute() / TASKS
    if not is_task_file(suite) or Path(suite).absolute().parent == kept:
        return config, None
    read_text(Path(suite))  # one that cannot be read is refused as everywhere
    file = TaskFile(suite, Path(suite).read_bytes())
    tasks = config.tasks.model_copy(update={"suite": str(kept / file.name)})
    return config.model_copy(update={"tasks": tasks}), file


@dataclass(frozen=True, slots=True)
class Contents:
    """What a suite holds."""

    name: str
    templates: Mapping[str, Mapping[str, int]]
    """Template → split → how many different goals (of a suite that ships: combinations of its parameters)."""
    judged: Mapping[str, str]
    """Template → by whom."""
    examples: tuple[str, ...]

    def count(self, split: str) -> int:
        return sum(splits.get(split, 0) for splits in self.templates.values())


def contents(name: str, only: tuple[str, ...] = ()) -> Contents:
    """Raises `ConfigError` for whatever is wrong with a file."""
    suite = load_suite(name, only)
    assert isinstance(suite, TemplateSuite)
    splits = [split for split in suite.splits if split != "all"]
    return Contents(
        suite.name,
        {
            template.name: {split: len(found) for split in splits if (found := suite.combinations(template, split))}
            for template in suite.members
        },
        {template: _judge(suite, template) for template in suite.templates},
        tuple(task.goal for task in suite.tasks(suite.splits[0], EXAMPLES, seed=0)),
    )


def _judge(suite: TemplateSuite, name: str) -> str:
    if not isinstance(suite, FileSuite):
        return "its own rule"
    rules = suite.files[name].rules
    return "a model" if rules is None else ", ".join(rules)
