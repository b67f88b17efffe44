"""The report's curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from distrl.evaluation.charts import Line, line_chart
from distrl.evaluation.curves import EvaluationPoint, Training, moving_average, throughput
from distrl.evaluation.page import fill
from distrl.evaluation.scales import percent
from distrl.store.run import RunStore, Series
from distrl.types import Floats

LOSSES = ("loss/policy", "loss/value", "loss/trajectory_value")
HEADLINED = (*LOSSES, "policy/entropy")
STYLES = ("one", "two", "three")


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with its caption."""

    title: str
    note: str
    chart: Markup


def curve_section(store: RunStore, seen: Training, checked: Sequence[EvaluationPoint]) -> Markup:
    if not len(seen):
        return fill("curves.html.jinja", figures=[])
    note = (
        f"Training curves are the mean of the last {seen.window} trajectories, played with sampling while the policy "
        "was learning; evaluation points are held-out tasks with their 95 % interval."
    )
    figures = [
        *_success(seen, checked),
        _of_training(seen, "Return", "outcome minus penalties, per trajectory", seen.episode_return),
        _of_training(seen, "Lag", "versions between playing and insertion", seen.lag),
        _throughput(seen),
        _of_training(seen, "Steps", "per trajectory", seen.steps),
        _of_training(seen, "Entropy", "nats per token, when played", np.nan_to_num(seen.entropy)),
        _losses(store),
    ]
    return fill("curves.html.jinja", note=note, figures=figures)


def more_section(store: RunStore) -> Markup:
    """Every other metric, folded away."""
    names = [name for name in store.metric_names() if name not in HEADLINED]
    figures = [
        Figure(name, "", line_chart([_line(name, store.metrics(name))], x_label="learner steps")) for name in names
    ]
    return fill("more_curves.html.jinja", figures=figures) if figures else Markup()


def _success(seen: Training, checked: Sequence[EvaluationPoint]) -> list[Figure]:
    smoothed = seen.smooth(seen.success)
    by_time = np.argsort(seen.minutes, kind="stable")
    charts = []
    for title, x, order, at, label in (
        ("Success over time", seen.minutes, by_time, [c.minutes for c in checked], "minutes"),
        ("Success over trajectories", seen.count, np.arange(len(seen)), [c.count for c in checked], "trajectories"),
    ):
        lines = [Line("training", x[order], smoothed[order], "one")]
        if checked:
            lines.append(_points(checked, np.array(at, dtype=float)))
        chart = line_chart(lines, x_label=label, y_format=percent, y_range=(0.0, 1.0))
        charts.append(Figure(title, "share of episodes that the judge accepted", chart))
    return charts


def _points(checked: Sequence[EvaluationPoint], at: Floats) -> Line:
    rates = np.array([c.evaluation.success for c in checked])
    bounds = np.array([c.evaluation.ci95 for c in checked])
    return Line("evaluation", at, rates, "two", dots=True, low=bounds[:, 0], high=bounds[:, 1])


def _of_training(seen: Training, title: str, note: str, values: Floats) -> Figure:
    line = Line(title.lower(), seen.count, seen.smooth(values))
    return Figure(title, note, line_chart([line], x_label="trajectories", from_zero=True))


def _throughput(seen: Training) -> Figure:
    minutes, rate = throughput(seen.minutes)
    chart = line_chart([Line("trajectories per minute", minutes, rate)], x_label="minutes", from_zero=True)
    return Figure("Throughput", "trajectories per minute", chart)


def _losses(store: RunStore) -> Figure:
    found = [(name, store.metrics(name)) for name in LOSSES]
    lines = [
        _line(name.removeprefix("loss/").replace("_", " "), series, style)
        for (name, series), style in zip(found, STYLES, strict=True)
        if len(series.value)
    ]
    return Figure("Losses", "of the learner, each with its weight", line_chart(lines, x_label="learner steps"))


def _line(label: str, series: Series, style: str = "one") -> Line:
    """A metric over learner steps, lightly smoothed: one learner step is a small sample."""
    good = np.isfinite(series.value)
    step, value = series.step[good], series.value[good]
    return Line(label, step, moving_average(value, max(1, len(value) // 40)), style)
