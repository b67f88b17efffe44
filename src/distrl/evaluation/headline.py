"""The first thing a reader of the report sees: how good it was, how good it is, and how sure that is."""

from __future__ import annotations

from html import escape

import numpy as np

from distrl.evaluation.charts import plain_number, signed
from distrl.evaluation.curves import EvaluationPoint, Training
from distrl.evaluation.evaluate import Comparison, Evaluation
from distrl.store.run import Counts

SPAN_WIDTH, SPAN_HEIGHT = 440, 74


def hero(comparison: Comparison | None, checked: list[EvaluationPoint]) -> str:
    """Before → after with intervals; the newest evaluation alone when there is only one; else nothing."""
    if comparison is not None:
        before, after = comparison.before, comparison.after
        rates = f'{_rate("before", before)}<span class="arrow">→</span>{_rate("after", after)}'
        return _card(rates, _change(comparison) + _span(before, after))
    if checked:
        newest = checked[-1]
        rates = _rate("after", newest.evaluation, f"evaluation “{newest.name}”")
        return _card(rates, _span(None, newest.evaluation))
    return ""


def _card(rates: str, beside: str) -> str:
    return f'<div class="hero"><div class="rates">{rates}</div><div>{beside}</div></div>'


def facts(counts: Counts, seen: Training, versions: int) -> str:
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
    cells = "".join(f"<div><b>{escape(value)}</b><span>{escape(label)}</span></div>" for value, label in shown)
    return f'<div class="facts-row">{cells}</div>'


def _rate(kind: str, evaluation: Evaluation, label: str = "") -> str:
    low, high = evaluation.ci95
    label = label or f"{kind} training"
    invalid = f", {evaluation.invalid} invalid" if evaluation.invalid else ""
    return (
        f'<div class="rate {kind}"><span class="label">{escape(label)}</span>'
        f'<span class="big">{100 * evaluation.success:.1f}<small>%</small></span>'
        f'<span class="interval">95 % interval {100 * low:.0f} – {100 * high:.0f}<br>'
        f"{evaluation.successes} of {evaluation.episodes} tasks{invalid}</span></div>"
    )


def _change(comparison: Comparison) -> str:
    difference = comparison.difference
    change, low, high = (signed(100 * x, 1) for x in (difference.estimate, difference.low, difference.high))
    sure = "" if difference.excludes_zero else " It may be chance."
    return (
        f'<p class="change"><b>{change} points</b> on held-out tasks; '
        f"95 % interval {low} to {high}, paired over {comparison.pairs} tasks.{sure}</p>"
    )


def _span(before: Evaluation | None, after: Evaluation) -> str:
    """Both intervals on one scale from 0 to 100 %."""
    rows = [("before", before, 16)] if before is not None else []
    rows.append(("after", after, 38 if before is not None else 27))
    parts = [_scale()]
    for kind, evaluation, y in rows:
        low, high = (_place(bound) for bound in evaluation.ci95)
        parts.append(
            f'<g class="{kind}"><line class="bar" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>'
            f'<circle cx="{_place(evaluation.success):.1f}" cy="{y}" r="5.5" stroke="none"/></g>'
        )
    return f'<svg class="span" viewBox="0 0 {SPAN_WIDTH} {SPAN_HEIGHT}" role="img">{"".join(parts)}</svg>'


def _place(rate: float) -> float:
    return 8 + rate * (SPAN_WIDTH - 16)


def _scale() -> str:
    return "".join(
        f'<line class="track" x1="{_place(tick / 100):.1f}" x2="{_place(tick / 100):.1f}" y1="4" y2="52"/>'
        f'<text x="{_place(tick / 100):.1f}" y="69" text-anchor="middle">{tick}{" %" if tick == 100 else ""}</text>'
        for tick in range(0, 101, 20)
    )
