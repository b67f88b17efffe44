"""One screen before it is painted: drawing operations, elements, words, and what a touch would hit.

Operations are plain tuples, so that two scenes that look the same are equal. Coordinates are logical pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from distrl.devices.sim import lettering
from distrl.devices.sim.lettering import Face
from distrl.devices.sim.theme import Colour, Palette
from distrl.devices.sim.ui import Event
from distrl.types import Element

WIDTH = 192
HEIGHT = 384
FINGER = 10
"""How far beside the end of a slider a touch still counts."""

Box = tuple[int, int, int, int]
Op = tuple[Any, ...]
Word = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Target:
    """An area that reacts to touches."""

    box: Box
    tap: Event | None = None
    long: Event | None = None
    slide: tuple[str, int, int] | None = None
    """Event of a slider and the ends of its track; its value is how far along the track the finger is."""
    spin: tuple[str, int, tuple[str, ...], int] | None = None
    """Event, column, options and chosen index of a picker wheel."""

    def holds(self, x: float, y: float) -> bool:
        left, top, right, bottom = self.box
        return left <= x < right and top <= y < bottom


class Scene:
    """Collects what is drawn, top layer last. Whatever lies outside `clip` is left out."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.elements: list[Element] = []
        self.targets: list[Target] = []
        self.words: list[Word] = []
        self.clip: Box = (0, 0, WIDTH, HEIGHT)

    # -- drawing

    def fill(self, box: Box, colour: Colour) -> None:
        if self._visible(box[1], box[3]):
            self.ops.append(("fill", box, colour))

    def rounded(self, box: Box, radius: int, colour: Colour) -> None:
        if self._visible(box[1], box[3]):
            self.ops.append(("rounded", box, radius, colour))

    def ring(self, box: Box, radius: int, thickness: int, colour: Colour) -> None:
        if self._visible(box[1], box[3]):
            self.ops.append(("ring", box, radius, thickness, colour))

    def picture(self, box: Box, name: str, radius: int = 6) -> None:
        if self._visible(box[1], box[3]):
            self.ops.append(("picture", box, name, radius))

    def glyph(self, centre_x: int, centre_y: int, size: int, name: str, colour: Colour) -> None:
        if self._visible(centre_y - size, centre_y + size):
            self.ops.append(("glyph", centre_x - size // 2, centre_y - size // 2, size, name, colour))

    def text(self, x: int, y: int, text: str, face: Face, colour: Colour, align: str = "left") -> None:
        """One line with its left end, middle or right end at x and its top at y; its words are listed."""
        if not text or not self._visible(y, y + face.line):
            return
        if align != "left":
            spare = lettering.width(text, face)
            x -= spare if align == "right" else spare // 2
        self.ops.append(("text", x, y, text, face, colour, align))
        middle = y + face.baseline - round(face.size * 0.36)
        for word, offset in lettering.words(text, face):
            self.say(word, x + offset, middle)

    def shadow(self, middle: int, y: int, text: str, face: Face) -> None:
        """The shadow of a centred line of text; adds no words."""
        if text and self._visible(y, y + face.line):
            x = middle - lettering.width(text, face) // 2
            self.ops.append(("text", x + 1, y + 1, text, face, (0, 0, 0), "centre"))

    def say(self, word: str, x: int, y: int) -> None:
        """List a word that can be read, or a label that a glyph stands for."""
        left, top, right, bottom = self.clip
        if left <= x < right and top <= y < bottom:
            self.words.append((word, x, y))

    def say_label(self, label: str, x: int, y: int) -> None:
        for word in label.split():
            self.say(word, x, y)

    # -- what is listed and touched

    def element(
        self,
        box: Box,
        text: str,
        role: str,
        tap: Event | None = None,
        long: Event | None = None,
        checked: bool | None = None,
        focused: bool = False,
        slide: str = "",
        spin: tuple[str, int, tuple[str, ...], int] | None = None,
    ) -> None:
        """List an element and, if it answers a touch, its target. Less than half visible: neither is listed."""
        left, top, right, bottom = box
        shown = (max(left, self.clip[0]), max(top, self.clip[1]), min(right, self.clip[2]), min(bottom, self.clip[3]))
        width, height = shown[2] - shown[0], shown[3] - shown[1]
        touchable = tap is not None or long is not None or bool(slide) or spin is not None
        track = (slide, left, right) if slide else None
        if width <= 0 or height <= 0:
            return
        if touchable:
            reach = FINGER if slide else 0  # the ends of a track are hard to hit exactly
            box = (shown[0] - reach, shown[1], shown[2] + reach, shown[3])
            self.targets.append(Target(box, tap, long, track, spin))
        if 2 * width * height >= (right - left) * (bottom - top):
            self.elements.append(Element(text, role, shown, checked, focused, touchable))

    def cover(self, box: Box) -> None:
        """Remove listed elements that an opaque shape is about to cover."""
        left, top, right, bottom = box
        self.words = [w for w in self.words if not (left <= w[1] < right and top <= w[2] < bottom)]
        self.elements = [e for e in self.elements if not _mostly_inside(e.bounds, box)]

    def new_layer(self) -> None:
        """What was listed so far is behind a scrim and out of reach."""
        self.elements.clear()
        self.targets.clear()
        self.words.clear()

    def shield(self, box: Box, text: str, role: str) -> None:
        """Add an area that consumes touches without an effect."""
        self.targets.append(Target(box))
        self.elements.append(Element(text, role, box))

    def _visible(self, top: int, bottom: int) -> bool:
        return bottom > self.clip[1] and top < self.clip[3]


def _mostly_inside(inner: Box, outer: Box) -> bool:
    width = min(inner[2], outer[2]) - max(inner[0], outer[0])
    height = min(inner[3], outer[3]) - max(inner[1], outer[1])
    if width <= 0 or height <= 0:
        return False
    return 2 * width * height > (inner[2] - inner[0]) * (inner[3] - inner[1])


@dataclass(frozen=True, slots=True)
class Look:
    """What layout needs besides the widgets: theme, icons, fields, focus."""

    palette: Palette
    icons: str
    """Shape of app icons."""
    fields: dict[str, str]
    focus: str
    wallpaper: bool = False
    """The page lies on the wallpaper, not on a background of its own."""
