"""Markers of touches over a screenshot: rings for a tap, an arrow for a swipe."""

from __future__ import annotations

import math
from dataclasses import dataclass

from distrl.types import COORDINATE_MAX, Action, LongPress, Swipe, Tap

TAP_RADIUS, PRESS_RADIUS = 58, 92
BARB_LENGTH, BARB_ANGLE = 85, 0.5


@dataclass(frozen=True, slots=True)
class Marker:
    """An overlay. Its unit is a thousandth of the screen's width in both directions, so that circles stay round."""

    height: float
    dot: tuple[float, float]
    rings: tuple[tuple[float, float, int], ...] = ()
    """x, y, radius."""
    arrow: str = ""
    """A path."""


def marker(action: Action | None, aspect: float) -> Marker | None:
    """None for an action without coordinates. `aspect` is the screen's height over its width."""
    height = COORDINATE_MAX * aspect
    match action:
        case Tap(x, y):
            radii: tuple[int, ...] = (TAP_RADIUS,)
        case LongPress(x, y):
            radii = (TAP_RADIUS, PRESS_RADIUS)
        case Swipe(x, y, to_x, to_y):
            return Marker(height, (x, y * aspect), arrow=_arrow(x, y * aspect, to_x, to_y * aspect))
        case _:
            return None
    return Marker(height, (x, y * aspect), tuple((x, y * aspect, radius) for radius in radii))


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    angle = math.atan2(to_y - y, to_x - x)
    (ax, ay), (bx, by) = (
        (to_x - BARB_LENGTH * math.cos(angle + turn), to_y - BARB_LENGTH * math.sin(angle + turn))
        for turn in (-BARB_ANGLE, BARB_ANGLE)
    )
    return f"M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}M{ax:.0f} {ay:.0f}L{to_x:.0f} {to_y:.0f}L{bx:.0f} {by:.0f}"
