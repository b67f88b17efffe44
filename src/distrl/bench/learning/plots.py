"""The result as PNG pictures, drawn with Pillow in the phone's own typeface: no library, no display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from distrl.bench.learning.methods import GROUPS
from distrl.devices.sim.lettering import FOLDER
from distrl.evaluation.charts import Scale, plain_number, ticks

WIDTH, HEIGHT = 960, 480
LEFT, RIGHT, TOP, BOTTOM = 64, 280, 48, 52
SHARP = 2
"""Everything is drawn this much larger and then reduced: Pillow's own lines have stairs."""
INK, FAINT, PAPER = "#1f2328", "#d8dee4", "#ffffff"
COLOURS = (
    *("#0b6bcb", "#d1242f", "#e16f24", "#1a7f37", "#8250df", "#bf3989"),
    *("#0f8b8d", "#9a6700", "#57606a", "#5c4d7d", "#2f6f4e", "#a40e26"),
)
ROW = 26


@dataclass(frozen=True, slots=True)
class Curve:
    label: str
    colour: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...] = ()
    """x, lowest, highest."""


def draw_all(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """Success against time and against trajectories, ablations apart, and where each method ended."""
    folder.mkdir(parents=True, exist_ok=True)
    suite, methods = result["suite"], result["methods"]
    done = {name: method for name, method in methods.items() if method["final_success"] is not None}
    pictures = {}
    for group in ("baselines", "ablations", "lag"):
        some = {name: done[name] for name in GROUPS[group] if name in done}
        if some and (group == "baselines" or len(some) > 1):
            pictures[f"learning-{suite}-{group}-time"] = _chart(
                some, "curve", "seconds", f"{suite}: training success over time"
            )
            title = f"{suite}: training success over trajectories"
            pictures[f"learning-{suite}-{group}-trajectories"] = _chart(
                some, "curve_by_trajectories", "trajectories", title
            )
    if done:
        pictures[f"learning-{suite}-final"] = final_chart(done, f"{suite}: success on test-instances at the end")
    paths = []
    for name, picture in pictures.items():
        paths.append(folder / f"{name}.png")
        picture.save(paths[-1], optimize=True)
    return paths


def _chart(methods: Mapping[str, Any], curve: str, axis: str, title: str) -> Image.Image:
    curves = [
        Curve(method["label"], colour, _points(method[curve], axis), _band(method[curve], axis))
        for colour, method in zip(COLOURS, methods.values(), strict=False)
    ]
    return line_chart(curves, title, axis)


def _points(curve: Mapping[str, Any], axis: str) -> tuple[tuple[float, float], ...]:
    return tuple((x, y) for x, y in zip(curve[axis], curve["success"], strict=True) if y is not None)


def _band(curve: Mapping[str, Any], axis: str) -> tuple[tuple[float, float, float], ...]:
    edges = zip(curve[axis], curve["lowest"], curve["highest"], strict=True)
    return tuple((x, low, high) for x, low, high in edges if low is not None)


def line_chart(curves: Sequence[Curve], title: str, x_label: str) -> Image.Image:
    """Lines from 0 to 100 % with the range of the seeds behind them and the names beside them."""
    page = Page(WIDTH, HEIGHT)
    x_ticks = ticks(0.0, max((x for curve in curves for x, _ in curve.points), default=1.0), 6)
    x = Scale(0.0, x_ticks[-1], LEFT, WIDTH - RIGHT)
    y = Scale(0.0, 1.0, HEIGHT - BOTTOM, TOP)
    page.write(LEFT, TOP - 22, title, weight="Medium", size=16)
    for tick in ticks(0.0, 1.0, 6):
        page.line([(LEFT, y(tick)), (WIDTH - RIGHT, y(tick))], FAINT, 1)
        page.write(LEFT - 8, y(tick), f"{100 * tick:.0f} %", anchor="rm")
    for tick in x_ticks:
        page.write(x(tick), HEIGHT - BOTTOM + 16, plain_number(tick), anchor="mm")
    page.write(WIDTH - RIGHT, HEIGHT - 14, x_label, anchor="rm")
    for curve in curves:
        edge = [(x(at), y(high)) for at, _, high in curve.band] + [(x(at), y(low)) for at, low, _ in curve.band[::-1]]
        page.shade(edge, curve.colour)
    for place, curve in enumerate(curves):
        page.line([(x(at), y(value)) for at, value in curve.points], curve.colour, 2.5)
        middle = TOP + 10 + 22 * place
        page.line([(WIDTH - RIGHT + 20, middle), (WIDTH - RIGHT + 42, middle)], curve.colour, 3)
        page.write(WIDTH - RIGHT + 50, middle, curve.label, anchor="lm")
    return page.finished()


def final_chart(methods: Mapping[str, Any], title: str) -> Image.Image:
    """One row per method: its success as a dot on its interval."""
    page = Page(WIDTH, TOP + BOTTOM + ROW * len(methods))
    bottom = TOP + ROW * len(methods)
    x = Scale(0.0, 1.0, RIGHT, WIDTH - LEFT)
    page.write(RIGHT, TOP - 24, title, weight="Medium", size=16)
    for tick in ticks(0.0, 1.0, 6):
        page.line([(x(tick), TOP - 6), (x(tick), bottom)], FAINT, 1)
        page.write(x(tick), bottom + 16, f"{100 * tick:.0f} %", anchor="mm")
    for place, method in enumerate(methods.values()):
        middle = TOP + ROW * (place + 0.5)
        low, high = method["final_success_ci95"]
        page.write(RIGHT - 14, middle, method["label"], anchor="rm")
        page.line([(x(low), middle), (x(high), middle)], COLOURS[0], 3)
        page.dot(x(method["final_success"]), middle, COLOURS[0])
    return page.finished()


class Page:
    """A picture with its coordinates in points; `finished` gives it in pixels."""

    def __init__(self, width: float, height: float) -> None:
        self._size = (round(width), round(height))
        self._image = Image.new("RGB", (SHARP * self._size[0], SHARP * self._size[1]), PAPER)
        self._draw = ImageDraw.Draw(self._image)

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float) -> None:
        if len(points) == 1:
            self.dot(*points[0], colour)
        elif points:
            self._draw.line(_larger(points), fill=colour, width=round(SHARP * width), joint="curve")

    def dot(self, x: float, y: float, colour: str) -> None:
        self._draw.circle((SHARP * x, SHARP * y), SHARP * 5, fill=colour)

    def shade(self, outline: Sequence[tuple[float, float]], colour: str) -> None:
        if len(outline) < 3:
            return
        mask = Image.new("L", self._image.size, 0)
        ImageDraw.Draw(mask).polygon(_larger(outline), fill=28)
        self._image.paste(colour, mask=mask)

    def write(
        self, x: float, y: float, text: str, *, anchor: str = "lm", weight: str = "Regular", size: int = 13
    ) -> None:
        font = ImageFont.truetype(str(FOLDER / f"Roboto-{weight}.ttf"), SHARP * size)
        self._draw.text((SHARP * x, SHARP * y), text, fill=INK, font=font, anchor=anchor)

    def finished(self) -> Image.Image:
        return self._image.resize(self._size, Image.Resampling.LANCZOS)


def _larger(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(SHARP * x, SHARP * y) for x, y in points]
