"""Generated wallpapers and pictures of objects or landscapes; the name seeds the picture."""

from __future__ import annotations

import colorsys
import random
from functools import lru_cache

from PIL import Image, ImageDraw

from distrl.devices.sim.theme import Colour

SHAPES = ("bottle", "box", "disc", "stack", "lamp")


def _hsv(hue: float, saturation: float, value: float) -> Colour:
    r, g, b = colorsys.hsv_to_rgb(hue % 1.0, saturation, value)
    return round(r * 255), round(g * 255), round(b * 255)


def _gradient(size: tuple[int, int], top: Colour, bottom: Colour) -> Image.Image:
    shade = Image.linear_gradient("L").resize(size)
    return Image.composite(Image.new("RGB", size, bottom), Image.new("RGB", size, top), shade)


@lru_cache(maxsize=64)
def wallpaper(index: int, width: int, height: int, dimmed: bool) -> Image.Image:
    """A landscape in dark colours, on which white labels are readable."""
    rng = random.Random(f"wallpaper/{index}")
    hue = rng.random()
    size = (width * 2, height * 2)
    image = _gradient(size, _hsv(hue, 0.55, 0.62), _hsv(hue + 0.12, 0.7, 0.34))
    pen = ImageDraw.Draw(image, "RGBA")
    x, y, r = rng.uniform(0.2, 0.8), rng.uniform(0.12, 0.4), rng.uniform(0.1, 0.2)
    w, h = size
    pen.ellipse((x * w - r * w, y * h - r * w, x * w + r * w, y * h + r * w), fill=(*_hsv(hue + 0.5, 0.25, 1.0), 90))
    for layer in range(4):
        base = 0.5 + 0.13 * layer
        heights = [base + rng.uniform(-0.09, 0.06) for _ in range(6)]
        points = [(w * i / 5, h * y) for i, y in enumerate(heights)]
        colour = _hsv(hue + 0.04 * layer, 0.65, 0.46 - 0.08 * layer)
        pen.polygon([(0, h), *points, (w, h)], fill=(*colour, 170))
    image = image.resize((width, height), Image.Resampling.BOX)
    return Image.blend(image, Image.new("RGB", image.size, (10, 11, 16)), 0.62) if dimmed else image


@lru_cache(maxsize=2048)
def picture(name: str, width: int, height: int) -> Image.Image:
    rng = random.Random(f"picture/{name}")
    hue = rng.random()
    size = (width * 2, height * 2)
    image = _gradient(size, _hsv(hue, 0.16, 0.97), _hsv(hue, 0.3, 0.86))
    pen = ImageDraw.Draw(image)
    other = hue + rng.uniform(0.3, 0.6)
    if width > 2 * height:
        _landscape(pen, rng, other, size)
    else:
        _object(pen, rng.choice(SHAPES), rng, other, size)
    return image.resize((width, height), Image.Resampling.BOX)


def _object(pen: ImageDraw.ImageDraw, kind: str, rng: random.Random, hue: float, size: tuple[int, int]) -> None:
    """One simple object in the middle."""
    w, h = size
    s = min(w, h) * rng.uniform(0.7, 0.85)
    x, y = w / 2, h / 2

    def box(left: float, top: float, right: float, bottom: float) -> tuple[float, float, float, float]:
        return x + left * s, y + top * s, x + right * s, y + bottom * s

    main, deep, pale = _hsv(hue, 0.7, 0.75), _hsv(hue + 0.05, 0.8, 0.5), _hsv(hue + 0.4, 0.5, 0.95)
    if kind == "bottle":
        pen.rounded_rectangle(box(-0.08, -0.5, 0.08, -0.2), s * 0.03, fill=deep)
        pen.rounded_rectangle(box(-0.2, -0.28, 0.2, 0.5), s * 0.1, fill=main)
        pen.rectangle(box(-0.2, 0.0, 0.2, 0.28), fill=pale)
    elif kind == "box":
        pen.rounded_rectangle(box(-0.45, -0.3, 0.45, 0.45), s * 0.05, fill=main)
        pen.rectangle(box(-0.45, -0.3, 0.45, -0.08), fill=deep)
        pen.rectangle(box(-0.08, -0.3, 0.08, 0.1), fill=pale)
    elif kind == "disc":
        pen.ellipse(box(-0.48, -0.48, 0.48, 0.48), fill=main)
        pen.ellipse(box(-0.3, -0.3, 0.3, 0.3), fill=deep)
        pen.ellipse(box(-0.1, -0.1, 0.1, 0.1), fill=pale)
    elif kind == "stack":
        for layer, colour in enumerate((deep, main, pale)):
            top = 0.24 - layer * 0.27
            shift = rng.uniform(-0.08, 0.08)
            pen.rounded_rectangle(box(-0.42 + shift, top, 0.38 + shift, top + 0.23), s * 0.04, fill=colour)
    else:
        pen.polygon(
            [(x - s * 0.2, y - s * 0.5), (x + s * 0.2, y - s * 0.5), (x + s * 0.42, y), (x - s * 0.42, y)], main
        )
        pen.rectangle(box(-0.04, 0.0, 0.04, 0.4), fill=deep)
        pen.rounded_rectangle(box(-0.25, 0.38, 0.25, 0.48), s * 0.04, fill=deep)


def _landscape(pen: ImageDraw.ImageDraw, rng: random.Random, hue: float, size: tuple[int, int]) -> None:
    """A sun over three ranges of hills."""
    w, h = size
    x, y, r = w * rng.uniform(0.15, 0.85), h * rng.uniform(0.2, 0.4), h * rng.uniform(0.12, 0.2)
    pen.ellipse((x - r, y - r, x + r, y + r), fill=_hsv(hue + 0.4, 0.4, 1.0))
    for layer in range(3):
        base = 0.45 + 0.17 * layer
        tops = [(w * i / 6, h * (base + rng.uniform(-0.12, 0.12))) for i in range(7)]
        pen.polygon([(0, h), *tops, (w, h)], fill=_hsv(hue + 0.03 * layer, 0.4 + 0.12 * layer, 0.82 - 0.17 * layer))
