"""The head of the report: success before and after training, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from distrl.evaluation.curves import EvaluationPoint, Training
from distrl.evaluation.evaluate import Comparison, Evaluation
from distrl.evaluation.page import fill
from distrl.evaluation.scales import Scale, Tick, plain_number, signed
from distrl.store.run import Counts

SPAN_WIDTH, SPAN_HEIGHT = 440, 74
SPAN = Scale(0.0, 1.0, 8, SPAN_WIDTH - 8)


@dataclass(frozen=True, slots=True)
class Rate:
    """A success rate, and its position on the scale."""

    kind: str
    label: str
    evaluation: Evaluation
    y: int

    @property
    def at(self) -> float:
        return SPAN(self.evaluation.success)

    @property
    def low(self) -> float:
        return SPAN(self.evaluation.ci95[0])

    @property
    def high(self) -> float:
        return SPAN(self.evaluation.ci95[1])


@dataclass(frozen=True, slots=True)
class RateChange:
    points: str
    low: str
    high: str
    pairs: int
    sure: bool


def hero(comparison: Comparison | None, checked: list[EvaluationPoint]) -> Markup:
    """Before → after with intervals; the newest evaluation alone when there is only one; else nothing."""
    if comparison is not None:
        before = Rate("before", "before training", comparison.before, y=16)
        after = Rate("after", "after training", comparison.after, y=38)
        return _card([before, after], _change(comparison))
    if checked:
        newest = checked[-1]
        return _card([Rate("after", f"evaluation “{newest.name}”", newest.evaluation, y=27)], None)
    return Markup()


def facts(counts: Counts, seen: Training, versions: int) -> Markup:
    """Six numbers in a row."""
    minutes = float(seen.minutes.max()) if len(seen) else 0.0
    shown = [
        (plain_number(counts.trajectories), "trajectories learned from"),
        (plain_number(counts.steps), "steps on devices"),
        (plain_number(versions), "policy versions"),
        (f"{minutes:.1f} min", "of playing"),
        (plain_number(counts.trajectories / minutes) if minutes else "–", "trajectories per minute"),
        (f"{np.mean(seen.lag):.1f}" if len(seen) else "–", "mean lag, in versions"),
    ]
    if counts.invalid:
        shown[1] = (plain_number(counts.invalid), "invalid: a device or judge failed")
    return fill("facts.html.jinja", facts=shown)


def _card(rates: list[Rate], change: RateChange | None) -> Markup:
    scale = [Tick(SPAN(tick / 100), f"{tick} %" if tick == 100 else f"{tick}") for tick in range(0, 101, 20)]
    return fill("hero.html.jinja", rates=rates, change=change, scale=scale, width=SPAN_WIDTH, height=SPAN_HEIGHT)


def _change(comparison: Comparison) -> RateChange:
    difference = comparison.difference
    points, low, high = (signed(100 * x, 1) for x in (difference.estimate, difference.low, difference.high))
    return RateChange(points, low, high, comparison.pairs, difference.excludes_zero)
