"""How one setting is given a value: its switch flipped, its slider moved, its value picked from a list."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template, any_combination
from distrl.types import Done


@dataclass(frozen=True, slots=True)
class Aim:
    """One setting and the value it shall have."""

    page: str
    """Title of the row that leads to its page."""
    title: str
    """Of its toggle, its slider or its row; empty where the page itself lists the values."""
    key: str
    """In the phone's state."""
    value: Any
    options: tuple[Any, ...]
    """All values it can have."""


SWITCHES = {
    "network": {
        "Bluetooth": ("Network", "bluetooth"),
        "airplane mode": ("Network", "airplane"),
        "mobile data": ("Network", "mobile_data"),
        "hotspot": ("Network", "hotspot"),
        "data saver": ("Network", "data_saver"),
    },
    "display": {
        "dark theme": ("Display", "dark"),
        "night light": ("Display", "night_light"),
        "auto rotate": ("Display", "auto_rotate"),
        "color boost": ("Display", "color_boost"),
    },
    "sound": {
        "do not disturb": ("Sound", "do_not_disturb"),
        "vibration": ("Sound", "vibration"),
        "touch sounds": ("Sound", "touch_sounds"),
        "key sounds": ("Sound", "key_sounds"),
    },
    "system": {
        "battery saver": ("Battery", "saver"),
        "fingerprint": ("Security", "fingerprint"),
        "find phone": ("Security", "find_phone"),
        "use location": ("Location", "location"),
        "share location": ("Location", "share_location"),
        "auto update": ("System", "auto_update"),
        "backup": ("System", "backup"),
        "gestures": ("System", "gestures"),
    },
}
"""Group → name → the page it is on and its key."""
TENS = tuple(range(0, 101, 10))
CHOICES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "font size": ("Display", "font_size", ("Small", "Normal", "Large", "Huge")),
    "screen timeout": (
        "Display",
        "timeout",
        ("15 seconds", "30 seconds", "1 minute", "2 minutes", "5 minutes", "10 minutes"),
    ),
    "screen lock": ("Security", "lock", ("None", "Swipe", "Pattern", "Code")),
}


def only(ending: Ending, key: str, value: Any) -> bool:
    """Whether this setting has the value and no other setting changed."""
    wanted = {**ending.before["settings"], key: value}
    return bool(ending.after["settings"] == wanted)


def adjust(
    name: str,
    phrasings: tuple[str, ...],
    space: Mapping[str, tuple[Any, ...]],
    aim_of: Callable[[Params], Aim],
    allowed: Callable[[Params], bool] = any_combination,
) -> Template:
    """Give one setting a value that it does not have at the start."""

    def start(params: Params, rng: random.Random) -> tuple[Edit, ...]:
        aim = aim_of(params)
        return (("set", f"settings/{aim.key}", rng.choice([o for o in aim.options if o != aim.value])),)

    def check(ending: Ending) -> bool:
        aim = aim_of(ending.params)
        return only(ending, aim.key, aim.value)

    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        aim = aim_of(params)
        yield from ui.open_app("Settings")
        yield from ui.tap(aim.page, "row")
        yield from reach(ui, aim)
        yield Done()

    return Template(
        name=name,
        app="settings",
        phrasings=phrasings,
        space=space,
        start=start,
        check=check,
        oracle=oracle,
        max_steps=13,
        may_change=("settings",),
        allowed=allowed,
    )


def reach(ui: ScreenDriver, aim: Aim) -> Oracle:
    """On the setting's page: flip its toggle, move its slider, or pick from its list."""
    if isinstance(aim.value, bool):
        yield from ui.tap(aim.title, "toggle")
    elif isinstance(aim.value, int):
        yield from ui.slide(aim.title, aim.value)
    else:
        if aim.title:
            yield from ui.tap(aim.title, "row")
        yield from ui.tap(aim.value, "checkbox")


def switch(group: str, *phrasings: str) -> Template:
    def aim_of(params: Params) -> Aim:
        page, key = SWITCHES[group][params["name"]]
        return Aim(page, params["name"], key, params["state"] == "on", (True, False))

    turn = ("Turn {state} {name}", "Switch {name} {state}", "In the settings, turn {name} {state}")
    space = {"name": tuple(SWITCHES[group]), "state": ("on", "off")}
    return adjust(f"settings/{group}_switch", (*turn, *phrasings), space, aim_of)


def choice_of(params: Params) -> Aim:
    page, key, options = CHOICES[params["name"]]
    return Aim(page, params["name"], key, params["value"], options)


def volume_of(params: Params) -> Aim:
    kind = params["kind"]
    return Aim("Sound", f"{kind} volume", f"{kind}_volume", params["level"], TENS)
