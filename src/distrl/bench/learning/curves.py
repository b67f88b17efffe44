"""Success on training tasks against time and against trajectories, smoothed in the same way for every method.

A point is the mean over the episodes that ended in the window before it: a fifth of the run for the time axis, a fixed
number of episodes for the trajectory axis. Templates in a window are weighted equally, so that a curriculum that
prefers hard ones does not lower the curve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from distrl.bench.learning.record import Episodes
from distrl.types import Floats

POINTS = 60
WINDOW_SHARE = 0.2
"""Length of a window on the axis of time, as a share of the run. It must cover whole rounds of synchronous training:
episodes that end late in a round are long, and mostly failures."""
WINDOW_EPISODES = 128
FEWEST = 8
"""A window with fewer episodes gives nan."""
PARTS = 5
"""Number of parts of a run that are compared to detect a collapse."""


def time_grid(seconds: float) -> Floats:
    """From the middle of the first window to the end."""
    return np.linspace(seconds * WINDOW_SHARE / 2, seconds, POINTS)


def count_grid(most: int) -> Floats:
    return np.linspace(min(WINDOW_EPISODES / 2, most), most, POINTS).round()


def against_time(episodes: Episodes, grid: Floats, window_s: float) -> Floats:
    """Success in the window that ends at each point; nan where it holds too little. Shape of `grid`."""
    ended = episodes.seconds
    return np.array([balanced(episodes, (ended > at - window_s) & (ended <= at)) for at in grid])


def against_count(episodes: Episodes, grid: Floats, window: int = WINDOW_EPISODES) -> Floats:
    """The same over the trajectories before each point, in the order of insertion; nan beyond the last one."""
    number = np.arange(1, len(episodes) + 1)
    inside = [(number > at - window) & (number <= at) if at <= len(episodes) else number < 0 for at in grid]
    return np.array([balanced(episodes, chosen) for chosen in inside])


def balanced(episodes: Episodes, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    """Mean over templates of their mean success."""
    if chosen.sum() < FEWEST:
        return float("nan")
    template = episodes.template[chosen]
    played = np.bincount(template)
    solved = np.bincount(template, weights=episodes.success[chosen])
    return float((solved[played > 0] / played[played > 0]).mean())


@dataclass(frozen=True, slots=True)
class Band:
    """Mean, lowest and highest of several runs' curves at each point; nan where no run has a value."""

    grid: Floats
    mean: Floats
    low: Floats
    high: Floats

    @classmethod
    def over(cls, grid: Floats, curves: Sequence[Floats]) -> Band:
        table = np.ma.masked_invalid(np.array(curves).reshape(len(curves), len(grid)))
        mean, low, high = (reduced.filled(np.nan) for reduced in (table.mean(0), table.min(0), table.max(0)))
        return cls(grid, mean, low, high)


def last(curve: Floats) -> float:
    """The last finite point of the curve."""
    finite = curve[np.isfinite(curve)]
    return float(finite[-1]) if len(finite) else float("nan")


def first_reach(grid: Floats, curve: Floats, level: float) -> float | None:
    """Where a curve first reaches `level`; None if it never does, or if `level` is not above 0."""
    there = np.flatnonzero(np.nan_to_num(curve, nan=-1.0) >= level)
    return float(grid[there[0]]) if len(there) and level > 0 else None


def stability(episodes: Episodes, seconds: float) -> float | None:
    """Success in the last fifth of a run over that in its best fifth. The fifths do not overlap and are long, to avoid
    picking a lucky short window."""
    part = seconds / PARTS
    parts = against_time(episodes, np.arange(1, PARTS + 1) * part, part)
    best = float(np.nanmax(parts)) if np.isfinite(parts).any() else 0.0
    return last(parts) / best if best > 0 else None
