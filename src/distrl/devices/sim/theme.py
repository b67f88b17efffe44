"""Colours and shapes of one phone: light or dark, an accent, and how its bars and icons look."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache

from PIL import ImageColor

from distrl.types import Tree

Colour = tuple[int, int, int]

ACCENTS = ("#3057d5", "#00695c", "#7b3fb4", "#b3261e", "#0b6aa8", "#8a5000", "#33691e", "#a8246a")
WALLPAPERS = 24
ICON_SHAPES = ("round", "squircle", "square")


@dataclass(frozen=True, slots=True)
class Palette:
    """What a page is painted with."""

    background: Colour
    surface: Colour
    """Of dialogs and cards."""
    text: Colour
    secondary: Colour
    outline: Colour
    field: Colour
    accent: Colour
    on_accent: Colour
    tint: Colour
    """A pale accent, behind what is selected."""


@lru_cache(maxsize=512)
def rgb(name: str) -> Colour:
    value = ImageColor.getrgb(name)
    return value[0], value[1], value[2]


def mix(one: Colour, other: Colour, share: float) -> Colour:
    """`share` of the other colour in the first."""
    r, g, b = (round(a + (z - a) * share) for a, z in zip(one, other, strict=True))
    return r, g, b


WHITE: Colour = (255, 255, 255)
BLACK: Colour = (0, 0, 0)
SCRIM = 0.55
"""How much darker a page is behind a dialog."""


def dimmed(colour: Colour) -> Colour:
    """As it looks behind a dialog."""
    return mix(colour, BLACK, SCRIM)


def readable_on(colour: Colour) -> Colour:
    """White or near-black, whichever stands out."""
    luminance = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2]
    return WHITE if luminance < 150 else (24, 24, 28)


@lru_cache(maxsize=128)
def palette(dark: bool, accent: str) -> Palette:
    base = rgb(accent)
    if dark:
        light = mix(base, WHITE, 0.5)
        return Palette(
            background=(18, 19, 23),
            surface=(38, 39, 46),
            text=(244, 244, 248),
            secondary=(198, 200, 210),
            outline=(84, 87, 98),
            field=(46, 48, 56),
            accent=light,
            on_accent=(16, 17, 22),
            tint=mix((38, 39, 46), base, 0.45),
        )
    return Palette(
        background=WHITE,
        surface=WHITE,
        text=(24, 24, 28),
        secondary=(78, 80, 90),
        outline=(196, 198, 208),
        field=(235, 237, 243),
        accent=base,
        on_accent=WHITE,
        tint=mix(WHITE, base, 0.16),
    )


def seeded(rng: random.Random) -> Tree:
    """The look of a phone, as plain data for its state tree."""
    return {
        "dark": rng.random() < 0.3,
        "accent": rng.choice(ACCENTS),
        "bars": rng.choice(("app", "plain")),
        "icons": rng.choice(ICON_SHAPES),
    }
