"""Tasks in the settings: switches, levels, choices, facts to look up."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from distrl.tasks.base import Edit, Ending, Hand, Oracle, Params, Template
from distrl.tasks.general.records import same
from distrl.types import Answer, Done

Place = tuple[str, str]
"""The page a setting is on, and its key in the phone's state."""

NETWORK: dict[str, Place] = {
    "Bluetooth": ("Network", "bluetooth"),
    "airplane mode": ("Network", "airplane"),
    "mobile data": ("Network", "mobile_data"),
    "hotspot": ("Network", "hotspot"),
    "data saver": ("Network", "data_saver"),
}
DISPLAY: dict[str, Place] = {
    "dark theme": ("Display", "dark"),
    "night light": ("Display", "night_light"),
    "auto rotate": ("Display", "auto_rotate"),
    "color boost": ("Display", "color_boost"),
}
SOUND: dict[str, Place] = {
    "do not disturb": ("Sound", "do_not_disturb"),
    "vibration": ("Sound", "vibration"),
    "touch sounds": ("Sound", "touch_sounds"),
    "key sounds": ("Sound", "key_sounds"),
}
SYSTEM: dict[str, Place] = {
    "battery saver": ("Battery", "saver"),
    "fingerprint": ("Security", "fingerprint"),
    "find phone": ("Security", "find_phone"),
    "use location": ("Location", "location"),
    "share location": ("Location", "share_location"),
    "auto update": ("System", "auto_update"),
    "backup": ("System", "backup"),
    "gestures": ("System", "gestures"),
}
VOLUMES = {"media": "media_volume", "ring": "ring_volume", "alarm": "alarm_volume"}
CHOICES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "font size": ("Display", "font_size", ("Small", "Normal", "Large", "Huge")),
    "screen timeout": (
        "Display",
        "timeout",
        ("15 seconds", "30 seconds", "1 minute", "2 minutes", "5 minutes", "10 minutes"),
    ),
    "screen lock": ("Security", "lock", ("None", "Swipe", "Pattern", "Code")),
}
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
FACTS = ("model", "version", "used space", "free space", "owner", "phone number", "battery level", "serial number",
         "build number", "last update")  # fmt: skip


def only(ending: Ending, key: str, value: Any) -> bool:
    """Whether this setting has the value and no other setting changed."""
    wanted = {**ending.before["settings"], key: value}
    return bool(ending.after["settings"] == wanted)


# --- switches -----------------------------------------------------------------------------------


def switch(name: str, places: Mapping[str, Place], phrasings: tuple[str, ...]) -> Template:
    """Turn one of several settings on or off; at the start it is the other way round."""

    def start(params: Params, rng: random.Random) -> tuple[Edit, ...]:
        return (("set", f"settings/{places[params['name']][1]}", params["state"] == "off"),)

    def check(ending: Ending) -> bool:
        return only(ending, places[ending.params["name"]][1], ending.params["state"] == "on")

    def oracle(hand: Hand, params: Params) -> Oracle:
        yield from hand.open_app("Settings")
        yield from hand.tap(places[params["name"]][0], "row")
        yield from hand.tap(params["name"], "toggle")
        yield Done()

    return Template(
        name=name,
        app="settings",
        phrasings=phrasings,
        space={"name": tuple(places), "state": ("on", "off")},
        start=start,
        check=check,
        oracle=oracle,
        max_steps=12,
        may_change=("settings",),
    )


# --- levels and choices -------------------------------------------------------------------------


def another(options: tuple[Any, ...], value: Any, rng: random.Random) -> Any:
    return rng.choice([option for option in options if option != value])


TENS = tuple(range(0, 101, 10))


def brightness_elsewhere(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("set", "settings/brightness", another(TENS, params["level"], rng)),)


def set_brightness(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap("Display", "row")
    yield from hand.slide("Brightness", params["level"])
    yield Done()


def volume_elsewhere(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("set", f"settings/{VOLUMES[params['kind']]}", another(TENS, params["level"], rng)),)


def set_volume(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap("Sound", "row")
    yield from hand.slide(f"{params['kind']} volume", params["level"])
    yield Done()


def choice_elsewhere(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    _, key, options = CHOICES[params["name"]]
    return (("set", f"settings/{key}", another(options, params["value"], rng)),)


def choose(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap(CHOICES[params["name"]][0], "row")
    yield from hand.tap(params["name"], "row")
    yield from hand.tap(params["value"], "checkbox")
    yield Done()


def ringtone_elsewhere(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("set", "settings/ringtone", another(RINGTONES, params["tone"], rng)),)


def set_ringtone(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap("Sound", "row")
    yield from hand.tap("Ringtone", "row")
    yield from hand.tap(params["tone"], "checkbox")
    yield Done()


def language_elsewhere(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("set", "settings/language", another(LANGUAGES, params["language"], rng)),)


def set_language(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap("Language", "row")
    yield from hand.tap(params["language"], "checkbox")
    yield Done()


# --- networks, apps, pages, facts ---------------------------------------------------------------


def on_another_network(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    others = rng.sample([name for name in NETWORKS if name != params["network"]], 5)
    networks = rng.sample([params["network"], *others], 6)
    return (
        ("set", "settings/wifi", True),
        ("set", "settings/networks", networks),
        ("set", "settings/network", others[0]),
    )


def join_network(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap("Network", "row")
    yield from hand.tap("Wi-Fi", "row")
    yield from hand.tap(params["network"], "row")
    yield Done()


def notifications_opposite(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    others = rng.sample([app for app in APPS if app != params["app"]], rng.randint(0, 2))
    muted = [params["app"]] if params["state"] == "on" else []
    return (("set", "settings/muted", sorted([*others, *muted])),)


def notifications_are_set(ending: Ending) -> bool:
    others = {app for app in ending.before["settings"]["muted"] if app != ending.params["app"]}
    muted = {ending.params["app"]} if ending.params["state"] == "off" else set()
    return only(ending, "muted", sorted(others | muted))


def set_notifications(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap("Apps", "row")
    yield from hand.tap(params["app"], "row")
    yield from hand.tap("Notifications", "toggle")
    yield Done()


def open_page(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap(params["page"], "row")
    yield Done()


def look_up(hand: Hand, params: Params) -> Oracle:
    yield from hand.open_app("Settings")
    yield from hand.tap("About phone", "row")
    yield from hand.reveal(params["fact"], "row")
    yield Answer(fact(hand.state, params))


def fact(state: Mapping[str, Any], params: Params) -> str:
    return str(state["settings"]["about"][params["fact"].capitalize()])


TURN = ("Turn {state} {name}", "Switch {name} {state}", "In the settings, turn {name} {state}")

TEMPLATES = (
    switch("settings/network_switch", NETWORK, TURN),
    switch("settings/display_switch", DISPLAY, (*TURN, "Make sure that {name} is {state}")),
    switch("settings/sound_switch", SOUND, (*TURN, "Please switch {state} {name}")),
    switch("settings/system_switch", SYSTEM, (*TURN, "I want {name} to be {state}")),
    Template(
        name="settings/brightness",
        app="settings",
        phrasings=(
            "Set the brightness to {level}",
            "Change the screen brightness to {level} percent",
            "Make the screen brightness {level}",
        ),
        space={"level": TENS},
        start=brightness_elsewhere,
        check=lambda ending: only(ending, "brightness", ending.params["level"]),
        oracle=set_brightness,
        max_steps=12,
        may_change=("settings",),
    ),
    Template(
        name="settings/volume",
        app="settings",
        phrasings=(
            "Set the {kind} volume to {level}",
            "Change the {kind} volume to {level} percent",
            "Put the {kind} volume at {level}",
        ),
        space={"kind": tuple(VOLUMES), "level": TENS},
        start=volume_elsewhere,
        check=lambda ending: only(ending, VOLUMES[ending.params["kind"]], ending.params["level"]),
        oracle=set_volume,
        max_steps=12,
        may_change=("settings",),
    ),
    Template(
        name="settings/choose",
        app="settings",
        phrasings=(
            "Set the {name} to {value}",
            "Change the {name} to {value}",
            "Choose {value} as the {name}",
        ),
        space={"name": tuple(CHOICES), "value": tuple(v for _, _, values in CHOICES.values() for v in values)},
        allowed=lambda params: params["value"] in CHOICES[params["name"]][2],
        start=choice_elsewhere,
        check=lambda ending: only(ending, CHOICES[ending.params["name"]][1], ending.params["value"]),
        oracle=choose,
        max_steps=13,
        may_change=("settings",),
    ),
    Template(
        name="settings/ringtone",
        app="settings",
        phrasings=(
            "Set the ringtone to {tone}",
            "Change the ringtone to {tone}",
            "Use {tone} as the ringtone",
        ),
        space={"tone": RINGTONES},
        start=ringtone_elsewhere,
        check=lambda ending: only(ending, "ringtone", ending.params["tone"]),
        oracle=set_ringtone,
        max_steps=14,
        may_change=("settings",),
    ),
    Template(
        name="settings/language",
        app="settings",
        phrasings=(
            "Change the language to {language}",
            "Set the phone to {language}",
            "Switch the phone language to {language}",
        ),
        space={"language": LANGUAGES},
        start=language_elsewhere,
        check=lambda ending: only(ending, "language", ending.params["language"]),
        oracle=set_language,
        max_steps=12,
        may_change=("settings",),
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
