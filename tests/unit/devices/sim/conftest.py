"""A phone with one small app on it that has every widget."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from distrl.devices.sim import ui
from distrl.devices.sim.apps.base import App, new_frame
from distrl.devices.sim.phone import Phone
from distrl.types import Element, Tap


class Home(App):
    id, title, glyph, colour, home = "launcher", "Home", "home", "#444444", "home"

    def seed(self, rng):
        return {"position": 0}

    def page_home(self, ctx):
        icons = (ui.Icon("note", "Demo", ("open", "demo"), colour="#336699"),)
        return ui.Page("", (ui.IconGrid(icons), ui.Spacer(), ui.Dots(3, ctx.data["position"])))

    def page_drawer(self, ctx):
        return ui.Page("All apps", (ui.IconGrid((ui.Icon("note", "Demo", ("open", "demo")),)),))

    def on_swipe(self, ctx, direction):
        if direction == "up":
            ctx.push("drawer")
        elif direction == "left":
            ctx.data["position"] += 1


class Demo(App):
    id, title, glyph, colour, home = "demo", "Demo", "note", "#336699", "main"

    def seed(self, rng):
        return {"number": rng.randrange(1000), "wifi": False, "level": 50, "hour": "07", "count": 1, "log": []}

    def page_main(self, ctx):
        body = (
            ui.Row("First row", "with a subtitle", "star", "value", tap=("push", "list", {}), long=("note", "held")),
            ui.Toggle("Wireless", ctx.data["wifi"], ("toggle", "wifi")),
            ui.Slider("Level", ctx.data["level"], "level"),
            ui.Stepper("Count", str(ctx.data["count"]), ("count", -1), ("count", 1)),
            ui.Wheel((("06", "07", "08"),), (ctx.data["hour"],), "hour"),
            ui.Field("name", "Your name"),
        )
        return ui.Page("Demo", body, actions=(ui.Icon("delete", "Delete", ("dialog", "sure", {"name": "it"})),))

    def page_list(self, ctx):
        rows = tuple(ui.Row(f"Row {i}", tap=("note", i)) for i in range(30))
        return ui.Page("List", (*rows, ui.Field("last", "Last field")))

    def page_chat(self, ctx):
        return ui.Page(
            "Chat", tuple(ui.Bubble(f"message {i}", i % 2 == 0) for i in range(30)), footer=ui.Field("m", "Say")
        )

    def page_all(self, ctx):
        body = (
            ui.Text("A title", "title"),
            ui.Text("A link", "link", ("note", "link")),
            ui.Check("Tick", True, ("note", "tick")),
            ui.Check("Radio", False, ("note", "radio"), radio=True),
            ui.Button("Go", ("note", "go")),
            ui.ButtonRow((ui.Button("Yes", ("note", "yes")), ui.Button("No", ("note", "no"), filled=False))),
            ui.Tabs(("One", "Two"), "One", "note"),
            ui.Chips(("Red", "Green"), ("Red",), "note"),
            ui.CardGrid((ui.Card("Blue lamp", "Nova", "$5", tap=("note", "card")), ui.Card("Cup"))),
            ui.Card("Wide card", price="$7"),
            ui.Picture("hills"),
            ui.Divider(),
        )
        return ui.Page(
            "All", body, fab=ui.Icon("add", "New", ("note", "fab")), bottom=ui.Tabs(("Left", "Right"), "Left", "note")
        )

    def dialog_sure(self, ctx, name):
        return ui.Dialog(
            "Sure?", f"Delete {name}.", (), (ui.Button("Cancel", ("none",)), ui.Button("Yes", ("note", "yes")))
        )

    def on_level(self, ctx, value):
        ctx.data["level"] = value

    def on_count(self, ctx, change):
        ctx.data["count"] += change

    def on_hour(self, ctx, column, value):
        ctx.data["hour"] = value

    def on_note(self, ctx, *what):
        ctx.data["log"].append(list(what))

    def on_submit(self, ctx, key):
        ctx.data["log"].append([key, ctx.field(key)])


class Hand:
    """Taps what it is told by name."""

    def __init__(self, phone: Phone) -> None:
        self.phone = phone

    def find(self, text: str, role: str = "") -> Element | None:
        elements = self.phone.render().elements
        return next((e for e in elements if e.text == text and (not role or e.role == role)), None)

    def at(self, text: str, role: str = "") -> tuple[int, int]:
        element = self.find(text, role)
        assert element is not None, [e.text for e in self.phone.render().elements]
        left, top, right, bottom = element.bounds
        return round((left + right) / 2 / 0.192), round((top + bottom) / 2 / 0.384)

    def tap(self, text: str, role: str = "") -> None:
        self.phone.perform(Tap(*self.at(text, role)))


@pytest.fixture
def build() -> Callable[..., Phone]:
    def build(page: str = "main", seed: int = 0, popup_probability: float = 0.0, scale: int = 1) -> Phone:
        apps = {"launcher": Home(), "demo": Demo()}
        phone = Phone(seed, popup_probability=popup_probability, scale=scale, apps=apps)
        if page:
            phone.prepare((("open", "demo", page),))
        return phone

    return build


@pytest.fixture
def hand() -> Callable[[Phone], Hand]:
    return Hand


@pytest.fixture
def frame() -> Callable[..., dict]:
    return new_frame
