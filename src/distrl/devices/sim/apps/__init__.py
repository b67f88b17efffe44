"""Every app of the simulated phone, by id. A new app is one more name in MODULES."""

from __future__ import annotations

import importlib

from distrl.devices.sim.apps.base import App
from distrl.devices.sim.apps.system import System

MODULES = (
    "launcher",
    "settings",
    "clock",
    "contacts",
    "messages",
    "mail",
    "calendar",
    "notes",
    "store",
    "browser",
    "weather",
    "music",
)


def _load() -> dict[str, App]:
    """Each module's own App classes, made once: apps keep nothing, all state is in the phone's tree."""
    apps: dict[str, App] = {}
    for name in MODULES:
        module = importlib.import_module(f"{__name__}.{name}")
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, App) and kind.__module__ == module.__name__:
                apps[kind.id] = kind()
    return apps


APPS = _load()
SYSTEM = System()
"""Pages of the phone itself; no app of its own, so not in APPS."""
