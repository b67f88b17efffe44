"""Preview images of the phone: several pages side by side."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image

from distrl.devices.sim.apps.base import new_frame
from distrl.devices.sim.draw import rounded_mask
from distrl.devices.sim.phone import Phone
from distrl.devices.sim.scene import HEIGHT, WIDTH

PAGES = (
    ("launcher", "home"),
    ("settings", "display"),
    ("clock", "alarms"),
    ("messages", "threads"),
    ("calendar", "agenda"),
    ("weather", "cities"),
)


def sheet(pages: Sequence[tuple[str, str]] = PAGES, *, seed: int = 14, scale: int = 2, columns: int = 6) -> Image.Image:
    """Each page of one phone, with round corners on white."""
    gap = 8 * scale
    width, height = WIDTH * scale, HEIGHT * scale
    rows = -(-len(pages) // columns)
    columns = min(columns, len(pages))
    paper = Image.new("RGB", (columns * (width + gap) + gap, rows * (height + gap) + gap), "white")
    for index, (app, page) in enumerate(pages):
        row, column = divmod(index, columns)
        corner = (gap + column * (width + gap), gap + row * (height + gap))
        paper.paste(_shown(app, page, seed, scale), corner, rounded_mask(width, height, 14 * scale))
    return paper


def _shown(app: str, page: str, seed: int, scale: int) -> Image.Image:
    phone = Phone(seed, scale=scale)
    if app != "launcher":
        phone.system["stack"].append(new_frame(app, page))
    return phone.render().image
