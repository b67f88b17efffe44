"""Axes: how data maps onto a picture, where the ticks are, and how numbers are written."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

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
class Scale:
    """Maps [low, high] of the data onto [start, end] of the picture."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    label: str


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from at or below `low` to at or above `high`: steps of 1, 2 or 5 times a power of ten."""
    if high - low < 1e-12 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
    rough = (high - low) / max(1, about - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((m * power for m in (1, 2, 5, 10)), key=lambda s: abs(math.log(s / rough)))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]
