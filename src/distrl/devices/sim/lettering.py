"""Text rendering: measuring, wrapping, shortening, with cached bitmaps."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal

from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).parent / "fonts"
ELLIPSIS = "…"


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """A weight and a size in logical pixels. Compared by identity, so that looking up a bitmap stays cheap."""

    weight: Literal["Regular", "Medium", "Bold"]
    size: int
    line: int = field(init=False)
    """Distance between two lines."""
    baseline: int = field(init=False)
    """From the top of a line to the foot of its letters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "line", round(self.size * 1.25))
        object.__setattr__(self, "baseline", round(self.size * 0.98))


@lru_cache(maxsize=64)
def font(weight: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(FOLDER / f"Roboto-{weight}.ttf"), size, layout_engine=ImageFont.Layout.BASIC)


@lru_cache(maxsize=16384)
def _placed(text: str, face: Face) -> tuple[tuple[tuple[str, int, int], ...], int]:
    """Each word with its start and width, and where the line ends. Spaces are wide: in small type a font's own
    space is two pixels, and two words look like one."""
    letters = font(face.weight, face.size)
    space = max(math.ceil(letters.getlength(" ")), round(face.size * 0.3))
    words, x = [], 0
    for word in text.split(" "):
        if word:
            length = math.ceil(letters.getlength(word))
            words.append((word, x, length))
            x += length
        x += space
    return tuple(words), x - space


def width(text: str, face: Face) -> int:
    return _placed(text, face)[1] if text else 0


@lru_cache(maxsize=8192)
def shorten(text: str, face: Face, limit: int) -> str:
    """The text on one line, cut with an ellipsis where it is wider than `limit`."""
    text = " ".join(text.split("\n"))
    if width(text, face) <= limit:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width(text[:middle].rstrip() + ELLIPSIS, face) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + ELLIPSIS


@lru_cache(maxsize=8192)
def tail(text: str, face: Face, limit: int) -> str:
    """The end of the text that fits: what a field shows while text is typed."""
    text = " ".join(text.split("\n"))
    start = 0
    while start < len(text) and width(text[start:], face) > limit:
        start += 1
    return text[start:]


@lru_cache(maxsize=8192)
def wrap(text: str, face: Face, limit: int, most: int = 0) -> tuple[str, ...]:
    """Lines no wider than `limit`. With `most` given, that many at most, the last one shortened."""
    lines: list[str] = []
    for paragraph in text.split("\n"):
        lines.extend(_wrapped(paragraph, face, limit))
    if most and len(lines) > most:
        rest = " ".join(lines[most - 1 :])
        lines = [*lines[: most - 1], shorten(rest, face, limit)]
    return tuple(lines)


def _wrapped(paragraph: str, face: Face, limit: int) -> list[str]:
    lines = [""]
    for word in paragraph.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if width(joined, face) <= limit:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        while width(word, face) > limit and len(word) > 1:  # a word wider than the page breaks anywhere
            head = next((n for n in range(len(word) - 1, 1, -1) if width(word[:n], face) <= limit), 1)
            lines[-1], word = word[:head], word[head:]
            lines.append("")
        lines[-1] = word
    return lines


@lru_cache(maxsize=16384)
def words(text: str, face: Face) -> tuple[tuple[str, int], ...]:
    """Every word of the line with the distance of its centre from the line's start."""
    return tuple((word, x + length // 2) for word, x, length in _placed(text, face)[0])


@lru_cache(maxsize=8192)
def bitmap(text: str, face: Face, scale: int) -> Image.Image:
    """The line as a mask; its origin is the line's top left corner. Enlarged, it keeps the font's own spacing."""
    letters = font(face.weight, face.size * scale)
    if scale == 1:
        placed, end = _placed(text, face)
    else:
        placed, end = ((text, 0, 0),), math.ceil(letters.getlength(text))
    mask = Image.new("L", (end + 2 * scale, (face.line + 3) * scale), 0)
    pen = ImageDraw.Draw(mask)
    for word, x, _ in placed:
        pen.text((x, face.baseline * scale), word, fill=255, font=letters, anchor="ls")
    return mask
