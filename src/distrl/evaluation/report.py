"""`report.html` of a run: the result, the curves, the templates, two film strips, settings and provenance."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from distrl.errors import RunNotFound
from distrl.evaluation.curves import EvaluationPoint, evaluation_points, training
from distrl.evaluation.evaluate import Comparison
from distrl.evaluation.figures import curve_section, more_section
from distrl.evaluation.filmstrip import Picture, film_page, filmstrip
from distrl.evaluation.headline import facts, hero
from distrl.evaluation.page import page
from distrl.evaluation.summary import compare_ends
from distrl.evaluation.templates import template_section
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
    parts = [
        _title(name, config, meta),
        hero(comparison, checked),
        facts(store.counts(), seen, _versions(store, checked)),
        curve_section(store, seen, checked),
        more_section(store),
        _strips(store, comparison, config),
        template_section(comparison, checked),
        _settings(config),
        _provenance(meta),
    ]
    return page(f"{name} · DistRL report", "\n".join(parts))


# --- parts --------------------------------------------------------------------------------------


def _title(name: str, config: Tree, meta: Tree) -> str:
    said = [
        f"suite {_get(config, 'tasks', 'suite', default='?')}",
        f"model {Path(str(_get(config, 'policy', 'model', default='?'))).name}",
        f"algorithm {_get(config, 'algorithm', 'name', default='?')}",
        str(meta.get("date", ""))[:10],
    ]
    line = " · ".join(escape(part) for part in said if part)
    return f'<p class="overline">DistRL run report</p><h1>{escape(name)}</h1><p class="sub">{line}</p>'


def _strips(store: RunStore, comparison: Comparison | None, config: Tree) -> str:
    examples = list(_examples(store, comparison))
    if not examples:
        return ""
    strips = "".join(_one_strip(*example, store.screen, _penalty(config)) for example in examples)
    return (
        "<section><h2>What it did</h2><p class='note'>Each frame is a screen as the policy saw it, with the action it "
        f"took there. Value is the critic's estimate of success at that moment.</p>{strips}</section>"
    )


def _one_strip(lead: str, trajectory: Trajectory, picture: Picture, penalty: float) -> str:
    strip = filmstrip(trajectory, picture, invalid_penalty=penalty)
    return strip.replace("</header>", f'<p class="lead">{escape(lead)}</p></header>', 1)


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


def _settings(config: Tree) -> str:
    groups = "".join(
        f"<div><h3>{escape(str(group))}</h3>{_pairs(values)}</div>"
        for group, values in config.items()
        if isinstance(values, dict)
    )
    return f'<section><h2>Settings</h2><p class="note"></p><div class="settings">{groups}</div></section>'


def _provenance(meta: Tree) -> str:
    shown = {key.capitalize(): value for key, value in meta.items()}
    return f'<section class="provenance"><h2>Provenance</h2><p class="note"></p>{_pairs(shown)}</section>'


def _pairs(values: Tree) -> str:
    rows = "".join(f"<dt>{escape(str(key))}</dt><dd>{escape(_said(value))}</dd>" for key, value in values.items())
    return f'<dl class="pairs">{rows}</dl>'


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
