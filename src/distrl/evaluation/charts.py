"""Line charts as SVG: where everything goes is computed here, the markup is in the templates.

`chart.html.jinja` puts a chart into a page, with its values as tooltips; `plots` makes files of charts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from distrl.evaluation.page import fill
from distrl.evaluation.scales import Format, Scale, Tick, percent, plain_number, ticks
from distrl.types import Floats

MOST_POINTS = 240
MOST_HOVERS = 48
"""A line is drawn from at most so many points, and so many of them have a tooltip."""

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """Values over x. `low` and `high` add a band, or whiskers where `dots` draws points that are not joined."""

    label: str
    x: Floats
    y: Floats
    style: str = "one"
    """Names the CSS class that gives the colour: one, two, three, ghost; c1 to c12 in a plot."""
    dots: bool = False
    low: Floats | None = None
    high: Floats | None = None

    def finite(self) -> Line:
        """Without the points that are not numbers: they cannot be drawn."""
        keep = np.isfinite(self.x) & np.isfinite(self.y)
        low, high = (None if bound is None else bound[keep] for bound in (self.low, self.high))
        return Line(self.label, self.x[keep], self.y[keep], self.style, self.dots, low, high)


@dataclass(frozen=True, slots=True)
class ChartFrame:
    """The size of a picture, and what is left free on each side of the lines."""

    width: int = 520
    height: int = 232
    left: int = 44
    right: int = 10
    top: int = 12
    bottom: int = 36


@dataclass(frozen=True, slots=True)
class Trace:
    """A line in the picture's coordinates."""

    label: str
    style: str
    joined: bool
    points: list[Point]
    band: list[Point]
    whiskers: list[tuple[float, float, float]]
    """x, low, high."""
    hovers: list[tuple[float, float, str]]
    """x, y, tooltip."""


@dataclass(frozen=True, slots=True)
class Chart:
    frame: ChartFrame
    rows: list[Tick]
    columns: list[Tick]
    x_label: str
    traces: list[Trace]


def line_chart(
    lines: Sequence[Line],
    *,
    x_label: str,
    x_format: Format = plain_number,
    y_format: Format = plain_number,
    y_range: tuple[float, float] | None = None,
    from_zero: bool = False,
) -> Markup:
    """One chart for a page. `y_range` fixes the vertical axis; otherwise it fits the data; zero is in it if wanted or
    near."""
    drawn = [line for line in (line.finite() for line in lines) if len(line.x)]
    if not drawn:
        return fill("chart.html.jinja", chart=None)
    y_ticks = ticks(*(y_range or _extent(drawn, from_zero)))
    return fill("chart.html.jinja", chart=place(drawn, ChartFrame(), y_ticks, x_label, x_format, y_format))


def place(
    lines: Sequence[Line],
    frame: ChartFrame,
    y_ticks: Sequence[float],
    x_label: str,
    x_format: Format = plain_number,
    y_format: Format = percent,
) -> Chart:
    """Lines of finite points in a frame."""
    low, high = _x_extent(lines)
    x_ticks = [tick for tick in ticks(low, high, 6) if low - 1e-9 <= tick <= high + 1e-9]
    x = Scale(low, high, frame.left, frame.width - frame.right)
    y = Scale(y_ticks[0], y_ticks[-1], frame.height - frame.bottom, frame.top)

    def says(line: Line, at: float, value: float) -> str:
        return f"{line.label}: {y_format(value)} at {x_format(at)} {x_label}"

    return Chart(
        frame,
        [Tick(y(tick), y_format(tick)) for tick in y_ticks],
        [Tick(x(tick), x_format(tick)) for tick in x_ticks],
        x_label,
        [_trace(line, x, y, says) for line in lines],
    )


def _x_extent(lines: Sequence[Line]) -> tuple[float, float]:
    """From zero, unless there is something before it: every axis of a run counts from its start."""
    low = min((0.0, *(float(line.x.min()) for line in lines)))
    high = max((low, *(float(line.x.max()) for line in lines)))
    return low, high if high > low else low + 1.0


def _extent(lines: Sequence[Line], from_zero: bool) -> tuple[float, float]:
    values = [bound for line in lines for bound in (line.y, line.low, line.high) if bound is not None]
    low, high = float(min(v.min() for v in values)), float(max(v.max() for v in values))
    if from_zero or 0 < low < 0.5 * high:
        low = min(low, 0.0)
    return low, high


def _trace(line: Line, x: Scale, y: Scale, says: Callable[[Line, float, float], str]) -> Trace:
    thin = _thinned(line, MOST_POINTS)
    values = list(zip(thin.x.tolist(), thin.y.tolist(), strict=True))
    points = [(x(a), _clamp(y(b), y)) for a, b in values]
    joined = not line.dots and len(points) > 1
    bounds = _bounds(line, x, y)
    band = [(a, low) for a, low, _ in bounds] + [(a, high) for a, _, high in reversed(bounds)]
    hovers = [(*points[index], says(line, *values[index])) for index in _spread(len(points), MOST_HOVERS)]
    return Trace(line.label, line.style, joined, points, band if joined else [], [] if joined else bounds, hovers)


def _bounds(line: Line, x: Scale, y: Scale) -> list[tuple[float, float, float]]:
    if line.low is None or line.high is None:
        return []
    return [(x(a), y(low), y(high)) for a, low, high in zip(line.x, line.low, line.high, strict=True)]


def _clamp(height: float, y: Scale) -> float:
    return min(max(height, y.end - 4.0), y.start + 4.0)


def _spread(count: int, most: int) -> list[int]:
    """Up to `most` indices, evenly spread, first and last among them."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))})


def _thinned(line: Line, most: int) -> Line:
    """At most so many points, each the mean of its neighbours, so that noise does not alias."""
    if line.dots or len(line.x) <= most:
        return line
    x, y = (np.array([part.mean() for part in np.array_split(v, most)]) for v in (line.x, line.y))
    return Line(line.label, x, y, line.style)
