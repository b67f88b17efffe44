"""Before and after for each app and each task template: where training helped and where it did not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from html import escape

from distrl.evaluation.charts import signed
from distrl.evaluation.curves import EvaluationPoint
from distrl.evaluation.evaluate import Comparison, Evaluation

NOTHING = Evaluation(())


def template_section(comparison: Comparison | None, checked: list[EvaluationPoint]) -> str:
    if comparison is not None:
        by_app = _compared(_by_app(comparison.before), _by_app(comparison.after), _gain)
        by_template = _compared(comparison.before.by_template(), comparison.after.by_template(), _name)
        return _section(
            "Hollow: before training. Filled: after. Counts are successes of valid episodes.", by_app, by_template
        )
    if checked:
        evaluation = checked[-1].evaluation
        note = f"Successes of valid episodes in the evaluation “{checked[-1].name}”."
        return _section(note, _alone(_by_app(evaluation)), _alone(evaluation.by_template()))
    return ""


def _section(note: str, by_app: str, by_template: str) -> str:
    return (
        f'<section><h2>By app and by template</h2><p class="note">{escape(note)}</p>'
        f'<div class="by-app">{by_app}</div><div class="by-template">{by_template}</div></section>'
    )


def _by_app(evaluation: Evaluation) -> Mapping[str, Evaluation]:
    """A template's name is `app/what`."""
    return Evaluation(tuple(replace(r, template=r.template.split("/")[0]) for r in evaluation.results)).by_template()


def _gain(name: str, before: Evaluation, after: Evaluation) -> tuple[float, str]:
    return before.success - after.success, name


def _name(name: str, before: Evaluation, after: Evaluation) -> tuple[float, str]:
    return 0.0, name


def _compared(
    before: Mapping[str, Evaluation],
    after: Mapping[str, Evaluation],
    order: Callable[[str, Evaluation, Evaluation], tuple[float, str]],
) -> str:
    rows = [(name, before.get(name, NOTHING), after.get(name, NOTHING)) for name in {*before, *after}]
    return "".join(_row(*row) for row in sorted(rows, key=lambda row: order(*row)))


def _row(name: str, before: Evaluation, after: Evaluation) -> str:
    change = 100 * (after.success - before.success)
    sense = "up" if change > 0.05 else "down" if change < -0.05 else "same"
    said = signed(change) if sense != "same" else "0"
    return (
        f'<div class="row"><span class="name">{escape(name)}</span>{_dumbbell(before.success, after.success)}'
        f'<span class="count">{_count(before)} → {_count(after)}</span>'
        f'<span class="change-of {sense}">{said}</span></div>'
    )


def _alone(table: Mapping[str, Evaluation]) -> str:
    return "".join(
        f'<div class="row"><span class="name">{escape(name)}</span>{_dumbbell(one.success, one.success)}'
        f'<span class="count">{_count(one)}</span><span class="change-of">{100 * one.success:.0f} %</span></div>'
        for name, one in table.items()
    )


def _count(evaluation: Evaluation) -> str:
    invalid = f" ({evaluation.invalid} invalid)" if evaluation.invalid else ""
    return f"{evaluation.successes}/{evaluation.episodes}{invalid}"


def _dumbbell(before: float, after: float) -> str:
    """Two dots on a line from 0 to 100 %; in percent, so that it takes whatever width the page gives it."""
    a, b = f"{100 * before:.1f}%", f"{100 * after:.1f}%"
    fell = " down" if after < before else ""
    return (
        '<svg class="dumbbell" aria-hidden="true"><line class="track" x1="0%" x2="100%" y1="7" y2="7"/>'
        f'<line class="gap{fell}" x1="{a}" x2="{b}" y1="7" y2="7"/>'
        f'<circle class="before" cx="{a}" cy="7" r="4"/><circle class="after" cx="{b}" cy="7" r="4.5"/></svg>'
    )
