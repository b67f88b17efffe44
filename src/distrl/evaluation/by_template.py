"""Before and after for each app and each task template: where training helped and where it did not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from distrl.evaluation.curves import EvaluationPoint
from distrl.evaluation.evaluate import Comparison, Evaluation
from distrl.evaluation.page import fill
from distrl.evaluation.scales import signed

NOTHING = Evaluation(())


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """A name with its rate, or with two: before and after."""

    name: str
    before: float
    after: float
    count: str
    change: str
    sense: str = ""
    """up, down or same; empty where there is nothing to compare."""


def template_section(comparison: Comparison | None, checked: list[EvaluationPoint]) -> Markup:
    if comparison is not None:
        note = "Hollow: before training. Filled: after. Counts are successes of valid episodes."
        by_app = _compared(_by_app(comparison.before), _by_app(comparison.after), _gain)
        by_template = _compared(comparison.before.by_template(), comparison.after.by_template(), _name)
    elif checked:
        evaluation = checked[-1].evaluation
        note = f"Successes of valid episodes in the evaluation “{checked[-1].name}”."
        by_app, by_template = _alone(_by_app(evaluation)), _alone(evaluation.by_template())
    else:
        return Markup()
    return fill("by_template.html.jinja", note=note, by_app=by_app, by_template=by_template)


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
) -> list[TemplateRow]:
    rows = [(name, before.get(name, NOTHING), after.get(name, NOTHING)) for name in {*before, *after}]
    return [_row(*row) for row in sorted(rows, key=lambda row: order(*row))]


def _row(name: str, before: Evaluation, after: Evaluation) -> TemplateRow:
    change = 100 * (after.success - before.success)
    sense = "up" if change > 0.05 else "down" if change < -0.05 else "same"
    said = signed(change) if sense != "same" else "0"
    return TemplateRow(name, before.success, after.success, f"{_count(before)} → {_count(after)}", said, sense)


def _alone(table: Mapping[str, Evaluation]) -> list[TemplateRow]:
    return [
        TemplateRow(name, one.success, one.success, _count(one), f"{100 * one.success:.0f} %")
        for name, one in table.items()
    ]


def _count(evaluation: Evaluation) -> str:
    invalid = f" ({evaluation.invalid} invalid)" if evaluation.invalid else ""
    return f"{evaluation.successes}/{evaluation.episodes}{invalid}"
