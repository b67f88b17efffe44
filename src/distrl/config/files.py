"""Configs as files: found by name, read with overrides, written with every default."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from distrl import loading
from distrl.config import former
from distrl.config.playing import is_task_file
from distrl.config.run import Config
from distrl.errors import ConfigError, nearest

CONFIG_FOLDERS = (Path("configs"), Path(__file__).parents[1] / "configs")
"""Where a config is looked for by name: the user's own folder first, then what the package ships."""

RUN_CONFIG = "config.yaml"
"""The config in a run folder."""


def load_config(name_or_path: str | Path, overrides: Sequence[str] = ()) -> Config:
    """The config of that name, YAML file or run folder, with `a.b=value` overrides on top.

    Raises `ConfigError` that says which key or value is wrong and what would be right.
    """
    path = find_config(name_or_path)
    return loading.build(Config, loading.overlay(_beside(path), overrides, Config), str(path))


def _beside(path: Path) -> loading.Tree:
    """What a config says, with a task file that lies beside it named in full: so does a run folder keep its own. What a
    run wrote before settings moved is read as it was meant."""
    tree = loading.read(path)
    tree = former.translated(tree) if path.name == RUN_CONFIG else tree
    tasks = tree.get("tasks")
    suite = tasks.get("suite") if isinstance(tasks, dict) else None
    if not isinstance(suite, str) or not is_task_file(suite) or not (found := path.parent / suite).is_file():
        return tree
    return {**tree, "tasks": {**tree["tasks"], "suite": str(found.absolute())}}


def find_config(name_or_path: str | Path) -> Path:
    """A file is taken as it is, a run folder stands for the config in it, a name is looked up."""
    path = Path(name_or_path)
    if path.is_file():
        return path
    if (path / RUN_CONFIG).is_file():
        return path / RUN_CONFIG
    for folder in CONFIG_FOLDERS:
        if (found := folder / f"{name_or_path}.yaml").is_file():
            return found
    known = known_configs()
    raise ConfigError(
        f"There is no config {str(name_or_path)!r}, neither as a file nor by name."
        f"{nearest(str(name_or_path), known)} Known: {', '.join(known)}."
    )


def known_configs() -> list[str]:
    return sorted({path.stem for folder in CONFIG_FOLDERS if folder.is_dir() for path in folder.glob("*.yaml")})


def to_yaml(config: Config) -> str:
    """Every setting, defaults included, in a form that `load_config` reads back."""
    return loading.dump(config.model_dump(mode="json"))


def with_free_name(config: Config) -> Config:
    """The same config with `{n}` in the run's name replaced, so that its folder does not exist yet."""
    if "{n}" not in config.run.name:
        return config
    number = 1
    while (config.run.folder / _numbered(config.run.name, number)).exists():
        number += 1
    run = config.run.model_copy(update={"name": _numbered(config.run.name, number)})
    return config.model_copy(update={"run": run})


def _numbered(name: str, number: int) -> str:
    return name.replace("{n}", "" if number == 1 else f"-{number}")
