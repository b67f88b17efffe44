"""Tasks in the settings: switches, levels, choices, networks, facts to look up."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.adjusting import CHOICES, TENS, Aim, adjust, choice_of, only, switch, volume_of
from distrl.tasks.general.records import same
from distrl.types import Answer, Done

RINGTONES = ("Bell", "Bird", "Drum", "Forest", "Ocean", "Piano", "Rain", "Star", "Summer", "Wave", "Wind", "Robot")
LANGUAGES = ("English", "French", "German", "Greek", "Hindi", "Italian", "Japanese", "Korean", "Polish", "Spanish")
NETWORKS = ("Home", "Office", "Guest", "Cafe", "Library", "Hotel", "School", "Airport", "Garden", "Station")
APPS = ("Clock", "Contacts", "Messages", "Mail", "Calendar", "Notes", "App Store", "Browser", "Settings")
PAGES = {
    "Network": "network",
    "Display": "display",
    "Sound": "sound",
    "Battery": "battery",
    "Apps": "apps",
    "Security": "security",
    "Location": "location",
    "Language": "language",
    "System": "system",
    "About phone": "about",
}
FACTS = (
    *("model", "version", "used space", "free space", "owner"),
    *("phone number", "battery level", "serial number", "build number", "last update"),
)


def on_another_network(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    others = rng.sample([name for name in NETWORKS if name != params["network"]], 5)
    networks = rng.sample([params["network"], *others], 6)
    return (
        ("set", "settings/wifi", True),
        ("set", "settings/networks", networks),
        ("set", "settings/network", others[0]),
    )


def join_network(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Settings")
    yield from ui.tap("Network", "row")
    yield from ui.tap("Wi-Fi", "row")
    yield from ui.tap(params["network"], "row")
    yield Done()


def notifications_opposite(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    others = rng.sample([app for app in APPS if app != params["app"]], rng.randint(0, 2))
    muted = [params["app"]] if params["state"] == "on" else []
    return (("set", "settings/muted", sorted([*others, *muted])),)


def notifications_are_set(ending: Ending) -> bool:
    others = {app for app in ending.before["settings"]["muted"] if app != ending.params["app"]}
    muted = {ending.params["app"]} if ending.params["state"] == "off" else set()
    return only(ending, "muted", sorted(others | muted))


def set_notifications(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Settings")
    yield from ui.tap("Apps", "row")
    yield from ui.tap(params["app"], "row")
    yield from ui.tap("Notifications", "toggle")
    yield Done()


def open_page(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Settings")
    yield from ui.tap(params["page"], "row")
    yield Done()


def look_up(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Settings")
    yield from ui.tap("About phone", "row")
    yield from ui.reveal(params["fact"], "row")
    yield Answer(fact(ui.state, params))


def fact(state: Mapping[str, Any], params: Params) -> str:
    return str(state["settings"]["about"][params["fact"].capitalize()])


TEMPLATES = (
    switch("network"),
    switch("display", "Make sure that {name} is {state}"),
    switch("sound", "Please switch {state} {name}"),
    switch("system", "I want {name} to be {state}"),
    adjust(
        "settings/brightness",
        (
            "Set the brightness to {level}",
            "Change the screen brightness to {level} percent",
            "Make the screen brightness {level}",
        ),
        {"level": TENS},
        lambda params: Aim("Display", "Brightness", "brightness", params["level"], TENS),
    ),
    adjust(
        "settings/volume",
        (
            "Set the {kind} volume to {level}",
            "Change the {kind} volume to {level} percent",
            "Put the {kind} volume at {level}",
        ),
        {"kind": ("media", "ring", "alarm"), "level": TENS},
        volume_of,
    ),
    adjust(
        "settings/choose",
        ("Set the {name} to {value}", "Change the {name} to {value}", "Choose {value} as the {name}"),
        {"name": tuple(CHOICES), "value": tuple(v for _, _, values in CHOICES.values() for v in values)},
        choice_of,
        allowed=lambda params: params["value"] in CHOICES[params["name"]][2],
    ),
    adjust(
        "settings/ringtone",
        ("Set the ringtone to {tone}", "Change the ringtone to {tone}", "Use {tone} as the ringtone"),
        {"tone": RINGTONES},
        lambda params: Aim("Sound", "Ringtone", "ringtone", params["tone"], RINGTONES),
    ),
    adjust(
        "settings/language",
        (
            "Change the language to {language}",
            "Set the phone to {language}",
            "Switch the phone language to {language}",
        ),
        {"language": LANGUAGES},
        lambda params: Aim("Language", "", "language", params["language"], LANGUAGES),
    ),
    Template(
        name="settings/join_network",
        app="settings",
        phrasings=(
            "Connect to the {network} network",
            "Join the Wi-Fi network {network}",
            "Use the {network} network for Wi-Fi",
        ),
        space={"network": NETWORKS},
        start=on_another_network,
        check=lambda ending: only(ending, "network", ending.params["network"]),
        oracle=join_network,
        max_steps=12,
        may_change=("settings",),
        held_out=True,
    ),
    Template(
        name="settings/notifications",
        app="settings",
        phrasings=(
            "Turn {state} notifications for {app}",
            "Switch {state} the notifications of the {app} app",
            "Turn the {app} notifications {state}",
        ),
        space={"app": APPS, "state": ("on", "off")},
        start=notifications_opposite,
        check=notifications_are_set,
        oracle=set_notifications,
        max_steps=14,
        may_change=("settings",),
    ),
    Template(
        name="settings/open_page",
        app="settings",
        phrasings=(
            "Open the {page} settings",
            "Show the {page} page in the settings",
            "Go to {page} in the settings",
        ),
        space={"page": tuple(PAGES)},
        check=lambda ending: ending.shows("settings", PAGES[ending.params["page"]]),
        oracle=open_page,
        max_steps=9,
    ),
    Template(
        name="settings/look_up",
        app="settings",
        phrasings=(
            "What is the {fact} of this phone?",
            "Tell me the {fact} of the phone",
            "Look up the {fact} in the settings and answer with it",
        ),
        space={"fact": FACTS},
        check=lambda ending: same(ending.answer, fact(ending.before, ending.params)),
        oracle=look_up,
        max_steps=12,
    ),
)
