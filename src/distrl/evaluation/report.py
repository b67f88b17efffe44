"""`report.html` of a run: the result, the curves, the templates, two film strips, settings and provenance."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from markupsafe import Markup

from distrl.errors import RunNotFound
from distrl.evaluation.by_template import template_section
from distrl.evaluation.curves import EvaluationPoint, evaluation_points, training
from distrl.evaluation.evaluate import Comparison
from distrl.evaluation.figures import curve_section, more_section
from distrl.evaluation.filmstrip import film_page, filmstrip
from distrl.evaluation.headline import facts, hero
from distrl.evaluation.page import fill
from distrl.evaluation.summary import compare_ends
from distrl.store.files import write_whole
from distrl.store.run import RunStore
from distrl.types import Trajectory, Tree

EASY_TO_READ = 6
"""Steps of a film strip that fit a page; examples are chosen near this length."""


def write_report(run_folder: Path) -> Path:
    """Write `report.html` into the run folder, from whatever the run has so far; also while it goes on."""
    path = run_folder / "report.html"
    with RunStore.read(run_folder) as store:
        write_whole(path, render(store).encode("utf-8", "backslashreplace"))
    return path


def write_replay(run_folder: Path, selection: str = "latest", out: Path | None = None) -> Path:
    """Write one trajectory as a page. `selection`: latest, success, failure, or the first letters of an id."""
    with RunStore.read(run_folder) as store:
        trajectory = select(store, selection)
        text = film_page(trajectory, store.screen, invalid_penalty=_penalty(store.config))
    path = out or run_folder / "replay.html"
    write_whole(path, text.encode("utf-8", "backslashreplace"))
    return path


def select(store: RunStore, selection: str) -> Trajectory:
    """The newest trajectory (of an outcome), or the one whose id begins so, evaluation episodes included."""
    if selection in ("latest", "success", "failure"):
        chosen = list(store.trajectories(newest=1, outcome=None if selection == "latest" else selection))
    else:
        chosen = store.find(selection)
    if len(chosen) != 1:
        newest = ", ".join(store.ids(newest=3)) or "none yet"
        raise RunNotFound(
            f"{len(chosen) or 'No'} trajectories of {store.folder} match {selection!r}. Say latest, success, failure, "
            f"or enough letters of an id; the newest are: {newest}."
        )
    return chosen[0]


def render(store: RunStore) -> str:
    """The report as one HTML page."""
    config, meta = store.config, store.meta
    seen = training(store, _penalty(config))
    checked = evaluation_points(store, seen)
    comparison = compare_ends(store)
    name = str(_get(config, "run", "name", default=store.folder.name))
    return fill(
        "report.html.jinja",
        title=f"{name} · DistRL report",
        name=name,
        subtitle=_subtitle(config, meta),
        hero=hero(comparison, checked),
        facts=facts(store.counts(), seen, _versions(store, checked)),
        curves=curve_section(store, seen, checked),
        more_curves=more_section(store),
        strips=_strips(store, comparison, config),
        by_template=template_section(comparison, checked),
        settings={group: _said_values(values) for group, values in config.items() if isinstance(values, dict)},
        provenance={key.capitalize(): value for key, value in _said_values(meta).items()},
    )


# --- parts --------------------------------------------------------------------------------------


def _subtitle(config: Tree, meta: Tree) -> str:
    said = [
        f"suite {_get(config, 'tasks', 'suite', default='?')}",
        f"model {Path(str(_get(config, 'policy', 'model', default='?'))).name}",
        f"algorithm {_get(config, 'algorithm', 'name', default='?')}",
        str(meta.get("date", ""))[:10],
    ]
    return " · ".join(part for part in said if part)


def _strips(store: RunStore, comparison: Comparison | None, config: Tree) -> list[Markup]:
    penalty = _penalty(config)
    return [
        filmstrip(trajectory, store.screen, invalid_penalty=penalty, lead=lead)
        for lead, trajectory in _examples(store, comparison)
    ]


def _examples(store: RunStore, comparison: Comparison | None) -> Iterable[tuple[str, Trajectory]]:
    """One success and one failure: of the last evaluation, or of the newest training when there was none."""
    names = [entry.name for entry in store.evaluations()]
    if names:
        played, where = list(store.evaluation_trajectories(names[-1])), f"Evaluation “{names[-1]}”."
    else:
        played, where = list(store.trajectories(newest=200)), "Training."
    failed_before = {r.task_id for r in comparison.before.results if not r.success} if comparison else set()
    gained = [t for t in played if t.outcome.success and t.task.id in failed_before]
    successes = gained or [t for t in played if t.outcome.success]
    failures = [t for t in played if t.outcome.kind == "failure"]
    if successes:
        yield f"{where} Before training this task failed." if gained else where, _readable(successes)
    if failures:
        yield where, _readable(failures)


def _readable(trajectories: list[Trajectory]) -> Trajectory:
    """The longest that still fits, or the shortest of those that do not."""
    return min(trajectories, key=lambda t: (len(t.steps) > EASY_TO_READ, abs(EASY_TO_READ - len(t.steps)), t.id))


def _said_values(values: Tree) -> dict[str, str]:
    return {str(key): _said(value) for key, value in values.items()}


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_said(inner)}" for key, inner in value.items() if inner not in ("", [], None))
    if isinstance(value, list):
        return " ".join(_said(item) for item in value)
    return "–" if value is None else str(value)


def _versions(store: RunStore, checked: list[EvaluationPoint]) -> int:
    inserted = store.table("version_at_insert")["version_at_insert"]
    return max([int(inserted.max()) if len(inserted) else 0, *(entry.step for entry in checked)])


def _penalty(config: Tree) -> float:
    return float(_get(config, "algorithm", "invalid_penalty", default=0.0))


def _get(config: Tree, group: str, key: str, *, default: Any) -> Any:
    return (config.get(group) or {}).get(key, default)
