"""The suite `general`: everyday tasks over the apps of a phone; one module per app."""

from __future__ import annotations

import importlib
import importlib.util

from distrl.tasks.base import Template
from distrl.tasks.general.launcher import OWN_APPS
from distrl.tasks.splits import TemplateSuite

APPS = (
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
HELD_OUT_APPS = frozenset({"weather", "music"})


def templates_of(app: str) -> tuple[Template, ...]:
    name = f"{__name__}.{app}"
    if importlib.util.find_spec(name) is None:
        return ()
    templates: tuple[Template, ...] = importlib.import_module(name).TEMPLATES
    return templates


SUITE = TemplateSuite(
    "general",
    tuple(template for app in APPS for template in templates_of(app)),
    HELD_OUT_APPS,
    elsewhere=tuple(OWN_APPS.values()),
)
