"""Pages of random widgets with random words, from which a model learns to read because nothing repeats."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from distrl.devices.sim import ui
from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Event, Page, Widget
from distrl.types import Tree

GLYPHS = (
    *("back", "menu", "more", "search", "add", "close", "check", "delete", "edit", "send", "settings", "wifi", "star"),
    *("heart", "filter", "sort", "play", "pause", "clock", "alarm", "person", "message", "mail", "calendar", "note"),
    *("store", "globe", "cart", "music", "cloud", "rain", "map", "phone", "camera", "lock", "download", "share"),
)
NOTHING: Event = ("none",)
NUMBERS, MADE_UP = 0.22, 0.13
"""Shares of the words that are no token of their own: numbers are read by digit, unknown words by piece."""


class RandomWordsApp(App):
    """An app of random pages; the number in the frame's arguments seeds the page."""

    id = "babel"
    title = "Babel"
    glyph = "globe"
    colour = "#557799"
    home = "page"

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words

    def seed(self, rng: random.Random) -> Tree:
        return {}

    def page_page(self, ctx: Context) -> Page:
        return _PageMaker(self.words, random.Random(ctx.args["number"])).page()


class _PageMaker:
    def __init__(self, words: Sequence[str], rng: random.Random) -> None:
        self.words = words
        self.rng = rng

    def say(self, most: int) -> str:
        text = " ".join(any_word(self.words, self.rng) for _ in range(self.rng.randint(1, most)))
        return text.capitalize() if self.rng.random() < 0.7 else text

    def maybe(self, chance: float, most: int) -> str:
        return self.say(most) if self.rng.random() < chance else ""

    def glyph(self) -> str:
        return self.rng.choice(GLYPHS)

    def page(self) -> Page:
        rng = self.rng
        strip = self.strip()
        kind = rng.random()
        return Page(
            title=self.say(2),
            body=self.body(),
            actions=tuple(self.icon() for _ in range(rng.randint(0, 2))),
            search=ui.Field("search", self.say(2), "search") if kind < 0.2 else None,
            tabs=strip if 0.2 <= kind < 0.4 else None,
            bottom=strip if 0.4 <= kind < 0.6 else None,
            fab=self.icon() if rng.random() < 0.2 else None,
            footer=ui.Field("footer", self.say(2)) if kind > 0.9 else None,
        )

    def body(self) -> tuple[Widget, ...]:
        rng = self.rng
        if rng.random() < 0.25:
            return (self.grid(rng.randint(6, 20)),)
        if rng.random() < 0.4:  # a plain long list of one kind
            make = rng.choice(self.makers())
            return tuple(make() for _ in range(rng.randint(5, 9)))
        return tuple(rng.choice(self.makers())() for _ in range(rng.randint(4, 9)))

    def icon(self) -> ui.Icon:
        glyph = self.glyph()
        return ui.Icon(glyph, self.say(1), NOTHING, colour=f"#{self.rng.randrange(2**24):06x}")

    def grid(self, icons: int) -> ui.IconGrid:
        return ui.IconGrid(tuple(self.icon() for _ in range(icons)), self.rng.choice((3, 4, 4)))

    def strip(self) -> ui.Tabs:
        names = tuple(self.say(1) for _ in range(self.rng.randint(2, 4)))
        return ui.Tabs(names, self.rng.choice((*names, "")), "none")

    def wheel(self) -> ui.Wheel:
        columns = tuple(tuple(f"{n:02d}" for n in range(60)) for _ in range(self.rng.randint(1, 2)))
        return ui.Wheel(columns, tuple(self.rng.choice(column) for column in columns), "none")

    def makers(self) -> tuple[Callable[[], Widget], ...]:
        rng = self.rng
        return (
            *(self.row,) * 6,
            lambda: ui.Toggle(self.say(2), rng.random() < 0.5, NOTHING, self.maybe(0.3, 2)),
            lambda: ui.Check(self.say(2), rng.random() < 0.5, NOTHING, rng.random() < 0.5),
            lambda: ui.Field(str(rng.random()), self.say(2), self.glyph() if rng.random() < 0.5 else ""),
            lambda: ui.Button(self.say(2), NOTHING, rng.random() < 0.5),
            lambda: ui.ButtonRow(tuple(ui.Button(self.say(1), NOTHING, rng.random() < 0.5) for _ in range(2))),
            lambda: ui.Text(self.say(4), rng.choice(("title", "heading", "body", "caption", "link"))),
            lambda: ui.Chips(tuple(self.say(1) for _ in range(rng.randint(2, 8))), (), "none"),
            lambda: self.grid(rng.choice((4, 8))),
            self.strip,
            self.wheel,
            *(lambda: ui.Slider(self.say(2), rng.randrange(0, 101, 10), "none"),) * 3,
            lambda: ui.Stepper(self.say(1), str(rng.randint(0, 60)), NOTHING, NOTHING),
            lambda: ui.Card(self.say(2), self.maybe(0.5, 2), f"${rng.randint(1, 99)}", self.say(1), NOTHING),
            lambda: ui.CardGrid(tuple(self.card() for _ in range(4))),
            lambda: ui.Bubble(self.say(4), rng.random() < 0.5),
        )

    def row(self) -> ui.Row:
        icon = self.glyph() if self.rng.random() < 0.5 else ""
        return ui.Row(self.say(3), self.maybe(0.4, 3), icon, self.maybe(0.3, 1), NOTHING)

    def card(self) -> ui.Card:
        return ui.Card(self.say(2), self.maybe(0.3, 1), f"${self.rng.randint(1, 99)}", self.say(1), NOTHING)


def any_word(words: Sequence[str], rng: random.Random) -> str:
    """One of the words, a number, or an unknown word."""
    kind = rng.random()
    if kind < NUMBERS:
        return number(rng)
    return made_up(words, rng) if kind < NUMBERS + MADE_UP else rng.choice(words)


def number(rng: random.Random) -> str:
    """A price, a time, a telephone number."""
    digits = f"{rng.randrange(10_000):04d}"
    return rng.choice(
        (
            f"${rng.randint(1, 99)}",
            f"{rng.randint(0, 9)}.{rng.randint(0, 9)}",
            f"{rng.randint(0, 23)}:{rng.randrange(0, 60, 5):02d}",
            f"555-{digits}",
            digits,
            f"{rng.randint(0, 100)}%",
            str(rng.randint(0, 99)),
        )
    )


def made_up(words: Sequence[str], rng: random.Random) -> str:
    """An unknown word: random syllables, or the beginning of one word and the end of another."""
    one, other = (rng.choice(words) for _ in range(2))
    if rng.random() < 0.3 or not (one + other).isalpha():
        return "".join(rng.choice("bcdfghjklmnprstvwz") + rng.choice("aeiou") for _ in range(rng.randint(2, 3)))
    return one[: rng.randint(1, 5)] + other[-rng.randint(1, 5) :]
