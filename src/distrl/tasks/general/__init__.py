"""The suite `general`: everyday tasks over the apps of a phone; one module per app."""

from __future__ import annotations

from distrl.tasks.general import (
    browser,
    calendar,
    clock,
    contacts,
    launcher,
    mail,
    messages,
    music,
    notes,
    settings,
    store,
    weather,
)
from distrl.tasks.splits import TemplateSuite

MODULES = (launcher, settings, clock, contacts, messages, mail, calendar, notes, store, browser, weather, music)

SUITE = TemplateSuite(
    "general",
    tuple(template for module in MODULES for template in module.TEMPLATES),
    held_out_apps=frozenset({"weather", "music"}),
    start_pages=tuple(launcher.OWN_APPS.values()),
)
