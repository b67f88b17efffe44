"""What can be chosen by name in a config, and where each is defined; nothing is imported before it is asked for.

An entry names what is light: the class of settings, or of options, that goes with a thing. Algorithms and devices are
found through it (`implementation`), so that a config is read without torch, Ray or the Android tools.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from distrl.errors import UnknownName


class Registry:
    """Names of one kind of thing, each with `package.module:Name`."""

    def __init__(self, kind: str, built_in: Mapping[str, str]) -> None:
        self.kind = kind
        self._built_in = dict(built_in)

    def names(self) -> tuple[str, ...]:
        return tuple(self._built_in)

    def load(self, name: str) -> Any:
        """What is registered under this name. Raises `UnknownName`."""
        if name not in self._built_in:
            raise UnknownName(self.kind, name, self.names())
        return locate(self._built_in[name])


def locate(reference: str) -> Any:
    """What `package.module:Name` stands for; imports the module."""
    module, _, name = reference.partition(":")
    return getattr(importlib.import_module(module), name)


ALGORITHMS = Registry(
    "algorithm",
    {
        "a_ride": "distrl.algorithms.settings.a_ride:ARideSettings",
        "digirl": "distrl.algorithms.settings.digirl:DigiRLSettings",
        "filtered_bc": "distrl.algorithms.settings.filtered_bc:FilteredBCSettings",
        "grpo": "distrl.algorithms.settings.grpo:GRPOSettings",
        "impala": "distrl.algorithms.settings.impala:ImpalaSettings",
    },
)
"""`algorithm.name` → its settings."""

JUDGES = Registry(
    "judge",
    {
        "rules": "distrl.judges.settings:RulesSettings",
        "vlm": "distrl.judges.settings:ModelSettings",
        "chain": "distrl.judges.settings:ModelSettings",
    },
)
"""`judge.kind` → its settings."""

DEVICES = Registry(
    "device scheme",
    {
        "sim": "distrl.devices.sim.options:SimOptions",
        "adb": "distrl.devices.adb.options:AdbOptions",
        "avd": "distrl.devices.avd.options:AvdOptions",
        "null": "distrl.devices.null:NullOptions",
    },
)
"""Scheme of `devices.address` → the options that its URL takes."""

SUITES = Registry("suite", {"general": "distrl.tasks.general:SUITE", "webshop": "distrl.tasks.webshop:SUITE"})
"""`tasks.suite` → the suite itself. None has settings of its own: what `tasks` holds is read for all of them."""
