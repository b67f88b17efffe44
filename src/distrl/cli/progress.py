"""Progress display of a run: a live panel in a terminal, plain lines elsewhere.

The runtime calls `update` with its current statistics at any rate, and `message` for events; `distrl.runtime.progress`
lists the keys. Missing keys are not shown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from distrl.runtime.progress import Progress

Stats = Mapping[str, Any]


class LinesProgress:
    """One line every `every_s` seconds, for logs and pipes."""

    def __init__(self, console: Console, every_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._every_s = every_s
        self._now = now
        self._next_at = 0.0
        self._phase: Any = None
        self._said = ""

    def update(self, stats: Stats) -> None:
        now = self._now()
        # The start of a phase and the end of an evaluation are always printed.
        finished = stats.get("evaluation") and stats.get("evaluation_done") == stats.get("evaluation_total")
        if now < self._next_at and stats.get("phase") == self._phase and not finished:
            return
        self._next_at = now + self._every_s
        self._phase = stats.get("phase")
        if (text := line(stats)) != self._said:
            self._said = text
            self.message(text)

    def message(self, text: str) -> None:
        self._console.print(Text(text), soft_wrap=True)


class LiveProgress:
    """A live panel at the bottom of the terminal; messages scroll above it."""

    def __init__(self, console: Console, title: str) -> None:
        self._console = console
        self._title = title
        self._stats: dict[str, Any] = {}
        self._evaluations: dict[str, Stats] = {}
        self.live = Live(console=console, get_renderable=self.panel, refresh_per_second=4)

    def update(self, stats: Stats) -> None:
        self._stats.update(stats)
        if stats.get("evaluation"):
            self._evaluations[str(stats["evaluation"])] = dict(stats)

    def message(self, text: str) -> None:
        self._console.print(Text(text))

    def panel(self) -> RenderableType:
        return Panel(
            Group(_figures(self._stats), _bars(self._evaluations)), title=Text(self._title), title_align="left"
        )


@contextmanager
def open_progress(console: Console, title: str, every_s: float) -> Iterator[Progress]:
    """A live panel in a terminal, lines elsewhere, for the duration of a run."""
    if not console.is_terminal:
        yield LinesProgress(console, every_s)
        return
    progress = LiveProgress(console, title)
    with progress.live:
        yield progress


def line(stats: Stats) -> str:
    """All statistics on one line."""
    parts = [str(stats["phase"])] if stats.get("phase") else []
    parts += [f"{name} {value}" for name, value in _cells(stats)]
    if stats.get("evaluation"):
        parts.append(f"{stats['evaluation']}: {_evaluated(stats)}")
    return " · ".join(parts)


def clock(seconds: float) -> str:
    """62 → 1:02, 3723 → 1:02:03."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02d}:{second:02d}" if hours else f"{minute}:{second:02d}"


def _cells(stats: Stats) -> Iterator[tuple[str, str]]:
    if (elapsed := stats.get("elapsed_s")) is not None:
        limit = stats.get("limit_s")
        yield "time", clock(elapsed) + (f" of {clock(limit)}" if limit else "")
    for key, name, form in (
        ("success", "success", "{:.0%}"),
        ("trajectories", "trajectories", "{:,.0f}"),
        ("trajectories_per_minute", "per minute", "{:.1f}"),
        ("invalid", "invalid", "{:,.0f}"),
        ("queue", "queue", "{:,.0f}"),
        ("lag", "lag", "{:.1f}"),
        ("learner_steps", "learner steps", "{:,.0f}"),
        ("learner_steps_per_s", "steps/s", "{:.2f}"),
        ("version", "version", "{:,.0f}"),
    ):
        if (value := stats.get(key)) is not None:
            yield name, form.format(value)
    if stats.get("quarantined"):
        yield "quarantined", f"{stats['quarantined']:.0f}, see `distrl devices watch RUN`"
    if stats.get("disk_full"):
        yield "disk full", "workers are held; free some space and they go on"


def _figures(stats: Stats) -> Table:
    table = Table.grid(padding=(0, 3))
    cells = [*([("phase", str(stats["phase"]))] if stats.get("phase") else []), *_cells(stats)]
    for start in range(0, len(cells), 4):
        row = cells[start : start + 4]
        table.add_row(*(Text.assemble((f"{name} ", "dim"), (value, "bold")) for name, value in row))
    return table


def _bars(evaluations: Mapping[str, Stats]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, stats in evaluations.items():
        bar = ProgressBar(
            total=max(1, stats.get("evaluation_total") or 1), completed=stats.get("evaluation_done") or 0, width=40
        )
        table.add_row(Text(f"evaluation {name}"), bar, Text(_evaluated(stats)))
    return table


def _evaluated(stats: Stats) -> str:
    done, total = stats.get("evaluation_done") or 0, stats.get("evaluation_total") or 0
    successes = stats.get("evaluation_successes")
    rate = f", {successes / done:.0%} success" if successes is not None and done else ""
    return f"{done}/{total}{rate}"
