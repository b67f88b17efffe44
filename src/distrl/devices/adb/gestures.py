"""Gestures and keys as `input` commands. Pixels have decimals, so that coordinates are not rounded."""

from __future__ import annotations

from distrl.types import COORDINATE_MAX, LongPress, Press, Swipe, Tap

KEYS = {"back": "4", "home": "3", "enter": "66"}
WAKE = ["input", "keyevent", "224"]
HOLD_MS, SWIPE_MS = "800", "300"
INSIDE = 0.001
"""Keeps coordinates off the right and lower edges, which are outside the screen."""


def command(action: Tap | LongPress | Swipe | Press, size: tuple[int, int]) -> list[str]:
    """`size` is that of the picture the agent saw."""
    if isinstance(action, Press):
        return ["input", "keyevent", KEYS[action.key]]
    here = _pixels(action.x, action.y, size)
    if isinstance(action, Tap):
        return ["input", "tap", *here]
    if isinstance(action, LongPress):
        return ["input", "swipe", *here, *here, HOLD_MS]
    return ["input", "swipe", *here, *_pixels(action.to_x, action.to_y, size), SWIPE_MS]


def _pixels(x: int, y: int, size: tuple[int, int]) -> list[str]:
    return [
        f"{min(place * length / COORDINATE_MAX, length - INSIDE):.3f}"
        for place, length in zip((x, y), size, strict=True)
    ]
