"""The phone's settings, as a table of pages.

Stored: one flat key per setting, `about` (facts to look up), `networks` (those in reach), `muted` (titles of apps
that may not notify), `order` (the rows of each page, as this phone shows them).
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.apps.launcher import all_titles
from distrl.devices.sim.ui import Check, Page, Row, Slider, Text, Toggle, Widget
from distrl.types import Tree


@dataclass(frozen=True, slots=True)
class Switch:
    """On or off."""

    title: str
    key: str


@dataclass(frozen=True, slots=True)
class Level:
    """0–100 in tens."""

    title: str
    key: str


@dataclass(frozen=True, slots=True)
class ChoiceSetting:
    """One of several values, chosen on a page of its own."""

    title: str
    key: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Link:
    """Leads to another page."""

    title: str
    page: str
    icon: str = ""


Line = Switch | Level | ChoiceSetting | Link

NETWORKS = ("Home", "Office", "Guest", "Cafe", "Library", "Hotel", "School", "Airport", "Garden", "Station")
RINGTONES = ("Bell", "Bird", "Drum", "Forest", "Ocean", "Piano", "Rain", "Star", "Summer", "Wave", "Wind", "Robot")
LANGUAGES = ("English", "French", "German", "Greek", "Hindi", "Italian", "Japanese", "Korean", "Polish", "Spanish")
FONT_SIZES = ("Small", "Normal", "Large", "Huge")
TIMEOUTS = ("15 seconds", "30 seconds", "1 minute", "2 minutes", "5 minutes", "10 minutes")
LOCKS = ("None", "Swipe", "Pattern", "Code")

PAGES: dict[str, tuple[str, tuple[Line, ...]]] = {
    "root": (
        "Settings",
        (
            Link("Network", "network", "wifi"),
            Link("Display", "display", "display"),
            Link("Sound", "sound", "volume"),
            Link("Battery", "battery", "battery"),
            Link("Apps", "apps", "apps"),
            Link("Security", "security", "lock"),
            Link("Location", "location", "pin"),
            Link("Language", "language", "globe"),
            Link("System", "system", "settings"),
            Link("About phone", "about", "info"),
        ),
    ),
    "network": (
        "Network",
        (
            Link("Wi-Fi", "wifi", "wifi"),
            Switch("Bluetooth", "bluetooth"),
            Switch("Airplane mode", "airplane"),
            Switch("Mobile data", "mobile_data"),
            Switch("Hotspot", "hotspot"),
            Switch("Data saver", "data_saver"),
        ),
    ),
    "display": (
        "Display",
        (
            Level("Brightness", "brightness"),
            Switch("Dark theme", "dark"),
            Switch("Night light", "night_light"),
            Switch("Auto rotate", "auto_rotate"),
            Switch("Color boost", "color_boost"),
            ChoiceSetting("Font size", "font_size", FONT_SIZES),
            ChoiceSetting("Screen timeout", "timeout", TIMEOUTS),
        ),
    ),
    "sound": (
        "Sound",
        (
            Level("Media volume", "media_volume"),
            Level("Ring volume", "ring_volume"),
            Level("Alarm volume", "alarm_volume"),
            Switch("Do not disturb", "do_not_disturb"),
            Switch("Vibration", "vibration"),
            Switch("Touch sounds", "touch_sounds"),
            Switch("Key sounds", "key_sounds"),
            ChoiceSetting("Ringtone", "ringtone", RINGTONES),
        ),
    ),
    "battery": ("Battery", (Switch("Battery saver", "saver"), Switch("Show percent", "percent"))),
    "security": (
        "Security",
        (
            ChoiceSetting("Screen lock", "lock", LOCKS),
            Switch("Fingerprint", "fingerprint"),
            Switch("Find phone", "find_phone"),
        ),
    ),
    "location": ("Location", (Switch("Use location", "location"), Switch("Share location", "share_location"))),
    "system": (
        "System",
        (Switch("Auto update", "auto_update"), Switch("Backup", "backup"), Switch("Gestures", "gestures")),
    ),
}

FACTS: dict[str, tuple[str, ...]] = {
    "Model": tuple(f"{name} {n}" for name in ("Nova", "Luna", "Star", "Wave", "Echo") for n in range(2, 10)),
    "Version": tuple(f"{n}.{m}" for n in range(8, 20) for m in range(5)),
    "Used space": tuple(f"{n} GB" for n in range(30, 99)),
    "Free space": tuple(f"{n} GB" for n in range(3, 30)),
    "Owner": ("Anna", "Ben", "Clara", "David", "Emma", "Frank", "Grace", "Henry", "Ivy", "Jack", "Kate", "Leo"),
    "Phone number": tuple(f"555 {n}" for n in range(1000, 10000, 37)),
    "Battery level": tuple(f"{n}%" for n in range(11, 100)),
    "Serial number": tuple(str(n) for n in range(20000, 90000, 131)),
    "Build number": tuple(str(n) for n in range(100, 999, 7)),
    "Last update": tuple(f"{month} {n}" for month in ("March", "May", "June", "July") for n in range(1, 29)),
}


def lines(kind: type[Any]) -> list[Any]:
    return [line for _, page in PAGES.values() for line in page if isinstance(line, kind)]


class SettingsApp(App):
    id = "settings"
    title = "Settings"
    glyph = "settings"
    colour = "#546e7a"
    home = "root"

    def seed(self, rng: random.Random) -> Tree:
        data: Tree = {line.key: rng.random() < 0.5 for line in lines(Switch)}
        data |= {line.key: rng.randrange(1, 10) * 10 for line in lines(Level)}
        data |= {line.key: rng.choice(line.options) for line in lines(ChoiceSetting)}
        networks = rng.sample(NETWORKS, 6)
        data |= {"wifi": True, "networks": networks, "network": networks[0], "language": rng.choice(LANGUAGES)}
        # Light on most phones, so that most screens are.
        data |= {"dark": rng.random() < 0.2, "about": {fact: rng.choice(values) for fact, values in FACTS.items()}}
        rng.shuffle(data["networks"])
        order = {page: rng.sample(range(len(page_lines)), len(page_lines)) for page, (_, page_lines) in PAGES.items()}
        order["about"] = rng.sample(range(len(FACTS)), len(FACTS))
        return data | {"muted": [], "order": order}

    def page(self, ctx: Context) -> Page:
        name = ctx.frame["page"]
        if name not in PAGES:
            return super().page(ctx)
        title, page_lines = PAGES[name]
        body = tuple(self._widget(ctx, page_lines[i]) for i in ctx.data["order"][name])
        return Page(title, body, colour=self.colour)

    def _widget(self, ctx: Context, line: Line) -> Widget:
        match line:
            case Switch(title, key):
                return Toggle(title, ctx.data[key], ("toggle", key))
            case Level(title, key):
                return Slider(title, ctx.data[key], key)
            case ChoiceSetting(title, key, _):
                return Row(title, value=ctx.data[key], tap=("push", "choice", {"key": key}))
            case Link(title, page, icon):
                return Row(title, icon=icon, value=self._state_of(ctx, page), tap=("push", page, {}))

    def _state_of(self, ctx: Context, page: str) -> str:
        """What a link shows at its right."""
        if page == "wifi":
            return ctx.data["network"] if ctx.data["wifi"] else "Off"
        return str(ctx.data["language"]) if page == "language" else ""

    def page_choice(self, ctx: Context) -> Page:
        key = ctx.args["key"]
        choice = next(line for line in lines(ChoiceSetting) if line.key == key)
        return Page(choice.title, self._options(ctx, key, choice.options), colour=self.colour)

    def page_language(self, ctx: Context) -> Page:
        return Page("Language", self._options(ctx, "language", LANGUAGES), colour=self.colour)

    def _options(self, ctx: Context, key: str, options: tuple[str, ...]) -> tuple[Widget, ...]:
        return tuple(Check(o, ctx.data[key] == o, ("choose", key, o), radio=True) for o in options)

    def page_wifi(self, ctx: Context) -> Page:
        switch = Toggle("Use Wi-Fi", ctx.data["wifi"], ("toggle", "wifi"))
        if not ctx.data["wifi"]:
            return Page("Wi-Fi", (switch, Text("Turn on Wi-Fi to see networks", style="caption")), colour=self.colour)
        connected = ctx.data["network"]
        rows = tuple(
            Row(name, "Connected" if name == connected else "", "wifi", tap=("set", "network", name))
            for name in ctx.data["networks"]
        )
        return Page("Wi-Fi", (switch, *rows), colour=self.colour)

    def page_apps(self, ctx: Context) -> Page:
        titles = sorted(all_titles(Context(ctx.state, {"app": "launcher"})))
        rows = tuple(Row(title, tap=("push", "app_info", {"title": title})) for title in titles)
        return Page("Apps", rows, colour=self.colour)

    def page_app_info(self, ctx: Context) -> Page:
        title = ctx.args["title"]
        switch = Toggle("Notifications", title not in ctx.data["muted"], ("mute", title))
        return Page(title, (Text("App info", style="heading"), switch), colour=self.colour)

    def page_about(self, ctx: Context) -> Page:
        facts = list(FACTS)
        rows = tuple(Row(facts[i], value=ctx.data["about"][facts[i]]) for i in ctx.data["order"]["about"])
        return Page("About phone", rows, colour=self.colour)

    # -- events

    def on_choose(self, ctx: Context, key: str, value: str) -> None:
        ctx.data[key] = value
        ctx.back()

    def on_mute(self, ctx: Context, title: str) -> None:
        ctx.data["muted"] = sorted(set(ctx.data["muted"]) ^ {title})

    def on_brightness(self, ctx: Context, value: int) -> None:
        ctx.data["brightness"] = value

    def on_media_volume(self, ctx: Context, value: int) -> None:
        ctx.data["media_volume"] = value

    def on_ring_volume(self, ctx: Context, value: int) -> None:
        ctx.data["ring_volume"] = value

    def on_alarm_volume(self, ctx: Context, value: int) -> None:
        ctx.data["alarm_volume"] = value
