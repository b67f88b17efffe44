"""Line charts as inline SVG, drawn by hand: no library, no script, colours from the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from distrl.types import Floats

WIDTH, HEIGHT = 520, 232
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 12, 36
MOST_POINTS = 240
MOST_HOVERS = 48
"""A line is drawn from at most so many points, and so many of them answer the mouse."""

Format = Callable[[float], str]


def plain_number(value: float) -> str:
    """Three significant digits, thousands apart, no trailing zeros."""
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", "\u2009")
    return f"{value:.3g}"


def signed(value: float, digits: int = 0) -> str:
    """With its sign, and a minus as long as the plus."""
    return f"{value:+.{digits}f}".replace("-", "\u2212")


def percent(value: float) -> str:
    return f"{100 * value:.0f}\u2009%"


@dataclass(frozen=True, slots=True)
class Line:
    """Values over x. `low` and `high` add whiskers; `dots` draws points that are not joined."""

    label: str
    x: Floats
    y: Floats
    style: str = "one"
    """Names the CSS class that gives the colour: one, two, three, ghost."""
    dots: bool = False
    low: Floats | None = None
    high: Floats | None = None

    def finite(self) -> Line:
        """Without the points that are not numbers: they cannot be drawn."""
        keep = np.isfinite(self.x) & np.isfinite(self.y)
        low, high = (None if bound is None else bound[keep] for bound in (self.low, self.high))
        return Line(self.label, self.x[keep], self.y[keep], self.style, self.dots, low, high)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps [low, high] of the data onto [start, end] of the picture."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


def line_chart(
    lines: Sequence[Line],
    *,
    x_label: str,
    x_format: Format = plain_number,
    y_format: Format = plain_number,
    y_range: tuple[float, float] | None = None,
    from_zero: bool = False,
) -> str:
    """One chart. `y_range` fixes the vertical axis; otherwise it fits the data; zero is in it if wanted or near."""
    drawn = [line.finite() for line in lines]
    if not any(len(line.x) for line in drawn):
        return '<p class="nothing">Nothing recorded.</p>'
    x_ticks, y_ticks = _x_ticks(drawn), ticks(*(y_range or _extent(drawn, from_zero)))
    x = Scale(_low(drawn), _high(drawn), LEFT, WIDTH - RIGHT)
    y = Scale(y_ticks[0], y_ticks[-1], HEIGHT - BOTTOM, TOP)
    parts = [_axes(x, y, x_ticks, y_ticks, x_label, x_format, y_format)]
    parts += [_draw(line, x, y, x_label, x_format, y_format) for line in drawn if len(line.x)]
    return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(parts)}</svg>{_legend(drawn)}'


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from at or below `low` to at or above `high`: steps of 1, 2 or 5 times a power of ten."""
    if high - low < 1e-12 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    rough = (high - low) / max(1, about - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / rough)))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _low(lines: Sequence[Line]) -> float:
    """Zero, unless there is something before it: every axis of a run counts from its start."""
    return min(0.0, *(float(line.x.min()) for line in lines if len(line.x)))


def _high(lines: Sequence[Line]) -> float:
    high = float(max(line.x.max() for line in lines if len(line.x)))
    return high if high > _low(lines) else _low(lines) + 1.0


def _x_ticks(lines: Sequence[Line]) -> list[float]:
    low, high = _low(lines), _high(lines)
    return [tick for tick in ticks(low, high, 6) if low - 1e-9 <= tick <= high + 1e-9]


def _extent(lines: Sequence[Line], from_zero: bool) -> tuple[float, float]:
    values = [bound for line in lines for bound in (line.y, line.low, line.high) if bound is not None and len(bound)]
    low, high = float(min(v.min() for v in values)), float(max(v.max() for v in values))
    if from_zero or 0 < low < 0.5 * high:
        low = min(low, 0.0)
    return low, high


def _axes(
    x: Scale,
    y: Scale,
    x_ticks: Sequence[float],
    y_ticks: Sequence[float],
    x_label: str,
    x_format: Format,
    y_format: Format,
) -> str:
    rows = [
        f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>'
        f'<text class="tick" x="{LEFT - 8}" y="{y(tick) + 3.5:.1f}" text-anchor="end">{escape(y_format(tick))}</text>'
        for tick in y_ticks
    ]
    columns = [
        f'<text class="tick" x="{x(tick):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">'
        f"{escape(x_format(tick))}</text>"
        for tick in x_ticks
    ]
    label = f'<text class="axis" x="{WIDTH - RIGHT}" y="{HEIGHT - 3}" text-anchor="end">{escape(x_label)}</text>'
    return "".join((*rows, *columns, label))


def _draw(line: Line, x: Scale, y: Scale, x_label: str, x_format: Format, y_format: Format) -> str:
    thin = _thinned(line, MOST_POINTS)
    points = [(x(float(a)), _clamp(y(float(b)))) for a, b in zip(thin.x, thin.y, strict=True)]
    parts = []
    if line.low is not None and line.high is not None:
        parts += [_whisker(x(a), y(b), y(c)) for a, b, c in zip(line.x, line.low, line.high, strict=True)]
    if line.dots or len(points) == 1:
        parts += [f'<circle class="point" cx="{a:.1f}" cy="{b:.1f}" r="4.5"/>' for a, b in points]
    else:
        parts.append(f'<polyline points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
    for index in _spread(len(thin.x), MOST_HOVERS):
        says = f"{line.label}: {y_format(float(thin.y[index]))} at {x_format(float(thin.x[index]))} {x_label}"
        parts.append(_hover(*points[index], says))
    return f'<g class="line {line.style}">{"".join(parts)}</g>'


def _clamp(height: float) -> float:
    return min(max(height, TOP - 4.0), HEIGHT - BOTTOM + 4.0)


def _whisker(x: float, low: float, high: float) -> str:
    return f'<path class="whisker" d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} {high:.1f}h8"/>'


def _hover(x: float, y: float, says: str) -> str:
    """A spot that shows itself and its value under the mouse."""
    spot = f'<circle class="spot" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'
    area = f'<circle class="area" cx="{x:.1f}" cy="{y:.1f}" r="10"/>'
    return f'<g class="hover">{spot}{area}<title>{escape(says)}</title></g>'


def _spread(count: int, most: int) -> list[int]:
    """Up to `most` indices, evenly spread, first and last among them."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))})


def _thinned(line: Line, most: int) -> Line:
    """At most so many points, each the mean of its neighbours, so that noise does not alias."""
    if line.dots or len(line.x) <= most:
        return line
    x, y = (np.array([part.mean() for part in np.array_split(v, most)]) for v in (line.x, line.y))
    return Line(line.label, x, y, line.style)


def _legend(lines: Sequence[Line]) -> str:
    if len(lines) < 2:
        return ""
    entries = "".join(
        f'<span class="{line.style}{" dot" if line.dots else ""}"><i></i>{escape(line.label)}</span>' for line in lines
    )
    return f'<div class="legend">{entries}</div>'
