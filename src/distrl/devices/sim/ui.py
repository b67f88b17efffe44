"""The widgets that apps are made of: plain descriptions, no pixels and no state.

An app's page returns a `Page` of these; the engine lays them out, draws them, lists them as elements and
turns a touch into the widget's event. An `Event` is a tuple (name, *plain arguments); see `apps/base.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Event = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Words on the page; long text wraps."""

    text: str
    style: Literal["title", "heading", "body", "caption", "price", "link"] = "body"
    tap: Event | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list: icon, title over subtitle, a value at the right."""

    title: str
    subtitle: str = ""
    icon: str = ""
    value: str = ""
    tap: Event | None = None
    long: Event | None = None


@dataclass(frozen=True, slots=True)
class Toggle:
    title: str
    on: bool
    tap: Event
    subtitle: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    title: str
    on: bool
    tap: Event
    radio: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """A text field. Its text lives in `frame["fields"][key]`; a tap focuses it and opens the keyboard.
    Enter sends ("submit", key) to the app."""

    key: str
    hint: str
    icon: str = ""


@dataclass(frozen=True, slots=True)
class Button:
    label: str
    tap: Event
    filled: bool = True


@dataclass(frozen=True, slots=True)
class ButtonRow:
    """Buttons side by side."""

    buttons: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class Icon:
    """A glyph with a name. In a grid the label is drawn below it; in bars it is only its accessible name."""

    glyph: str
    label: str
    tap: Event | None = None
    long: Event | None = None
    colour: str = ""


@dataclass(frozen=True, slots=True)
class IconGrid:
    icons: tuple[Icon, ...]
    columns: int = 4


@dataclass(frozen=True, slots=True)
class Tabs:
    """A strip of named tabs, under the title, in the body, or at the bottom. A tap sends (event, name)."""

    names: tuple[str, ...]
    selected: str
    event: str


@dataclass(frozen=True, slots=True)
class Chips:
    """Small rounded choices that wrap over lines. A tap sends (event, name)."""

    names: tuple[str, ...]
    selected: tuple[str, ...]
    event: str


@dataclass(frozen=True, slots=True)
class Slider:
    """0–100. A tap on the track sends (event, value rounded to tens)."""

    title: str
    value: int
    event: str


@dataclass(frozen=True, slots=True)
class Stepper:
    """A picker: − value +. Its two buttons send `minus` and `plus`."""

    title: str
    value: str
    minus: Event
    plus: Event


@dataclass(frozen=True, slots=True)
class Wheel:
    """Picker columns, each showing the value before, the value, and the value after.
    A tap above or below the middle sends (event, column, new value)."""

    columns: tuple[tuple[str, ...], ...]
    """The options of each column."""
    selected: tuple[str, ...]
    event: str


@dataclass(frozen=True, slots=True)
class Card:
    """A product or picture with a title and a price; `picture` seeds its drawing."""

    title: str
    subtitle: str = ""
    price: str = ""
    picture: str = ""
    tap: Event | None = None


@dataclass(frozen=True, slots=True)
class CardGrid:
    cards: tuple[Card, ...]
    columns: int = 2


@dataclass(frozen=True, slots=True)
class Bubble:
    """A chat message; `mine` puts it to the right."""

    text: str
    mine: bool


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing seeded by its name, as wide as the page."""

    name: str
    height: int = 60


@dataclass(frozen=True, slots=True)
class Divider:
    pass


@dataclass(frozen=True, slots=True)
class Dots:
    """Which of several pages is shown."""

    count: int
    at: int


@dataclass(frozen=True, slots=True)
class Spacer:
    """Room that is left over on a page shorter than the screen: what follows stands at the lower edge."""


Widget = (
    Text
    | Row
    | Toggle
    | Check
    | Field
    | Button
    | ButtonRow
    | IconGrid
    | Tabs
    | Chips
    | Slider
    | Stepper
    | Wheel
    | Card
    | CardGrid
    | Bubble
    | Picture
    | Divider
    | Dots
    | Spacer
)


@dataclass(frozen=True, slots=True)
class Page:
    """One full screen of an app. The body scrolls when it is longer than the screen."""

    title: str
    body: tuple[Widget, ...]
    actions: tuple[Icon, ...] = ()
    """Icons at the right of the title bar, at most three."""
    search: Field | None = None
    """A field in the title bar, in place of the title (address bars, search bars)."""
    tabs: Tabs | None = None
    """Under the title bar."""
    bottom: Tabs | None = None
    """Navigation at the lower edge."""
    fab: Icon | None = None
    """The floating round button at the lower right."""
    colour: str = ""
    """Of the title bar; empty takes the phone's theme."""
    footer: Field | None = None
    """A field fixed at the lower edge, with a send icon that sends ("submit", key) (chats)."""


@dataclass(frozen=True, slots=True)
class Dialog:
    """A box above the page. Back, or a tap outside it, closes it without an event."""

    title: str
    text: str = ""
    body: tuple[Widget, ...] = ()
    buttons: tuple[Button, ...] = ()
