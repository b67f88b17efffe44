"""Charts as SVG files, for documents: the report's charts with a title and names, and rates with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from distrl.evaluation.charts import ChartFrame, Line, place
from distrl.evaluation.page import fill
from distrl.evaluation.scales import Scale, Tick, percent, ticks

PLOT = ChartFrame(width=1020, height=472, left=64, right=350, top=48, bottom=44)
ROW_HEIGHT = 26
COLOURS = 12
"""The style sheet has so many, c1 to c12; a line beyond them takes the first again."""


@dataclass(frozen=True, slots=True)
class PlotInterval:
    """A rate and its confidence interval, from 0 to 1."""

    label: str
    rate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PlotRow:
    """An interval in the picture's coordinates."""

    label: str
    middle: float
    rate: float
    low: float
    high: float


def line_plot(lines: Sequence[Line], title: str, x_label: str) -> Markup:
    """Rates from 0 to 100 %, with the band of each line behind it and the names beside them."""
    drawn = [line for line in (line.finite() for line in lines) if len(line.x)]
    return fill("plot.svg.jinja", title=title, chart=place(drawn, PLOT, ticks(0.0, 1.0), x_label))


def interval_plot(intervals: Sequence[PlotInterval], title: str) -> Markup:
    """One row each: the rate as a dot on its interval."""
    frame = ChartFrame(
        PLOT.width, PLOT.top + PLOT.bottom + ROW_HEIGHT * len(intervals), PLOT.right, PLOT.left, PLOT.top, PLOT.bottom
    )
    x = Scale(0.0, 1.0, frame.left, frame.width - frame.right)
    rows = [
        PlotRow(one.label, frame.top + ROW_HEIGHT * (number + 0.5), x(one.rate), x(one.low), x(one.high))
        for number, one in enumerate(intervals)
    ]
    columns = [Tick(x(tick), percent(tick)) for tick in ticks(0.0, 1.0)]
    return fill("intervals.svg.jinja", title=title, frame=frame, rows=rows, columns=columns)


def colour(number: int) -> str:
    """The style of the line of that number, counted from 0."""
    return f"c{number % COLOURS + 1}"
