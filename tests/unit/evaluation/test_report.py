import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from distrl.errors import RunNotFound
from distrl.evaluation.report import render, write_replay, write_report
from distrl.evaluation.summary import summarise
from distrl.store.run import RunStore
from distrl.types import Outcome, Screen, Trajectory

VOID = {"meta", "img", "br", "link", "input", "hr"}


class Nesting(HTMLParser):
    """Checks that every tag that opens also closes, in order."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.references += [value for name, value in attrs if name in ("src", "href", "action", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.references += [value for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def html(run_folder) -> str:
    return write_report(run_folder).read_text(encoding="utf-8")


def test_the_report_is_one_whole_page_that_needs_nothing_else(html):
    checked = Nesting(html)
    assert checked.open == []
    assert all(reference.startswith("data:image/") for reference in checked.references)
    assert not re.search(r"""(=\s*["']?|url\(\s*["']?|@import\s+["']?)https?:""", html)  # in a text it loads nothing
    assert "<script" not in html
    assert len(html) < 3_000_000


def test_the_report_says_what_came_out(html, run_folder):
    with RunStore.read(run_folder) as store:
        summary = summarise(store)
    assert f"{100 * summary['success_before']:.1f}<small>%" in html
    assert f"{100 * summary['success_after']:.1f}<small>%" in html
    assert f"{100 * summary['difference']:+.1f} points" in html


def test_the_report_has_its_curves_tables_strips_settings_and_provenance(html):
    for title in ("Success over time", "Success over trajectories", "Lag", "Return", "Losses", "Entropy", "Throughput"):
        assert f"<h3>{title}</h3>" in html
    assert "Nothing recorded" not in html
    assert "1 more metric<" in html
    assert 'class="badge success"' in html
    assert 'class="badge failure"' in html
    assert "By app and by template" in html
    assert "learning_rate" in html
    assert "0123abc" in html


def test_a_run_that_has_just_begun_has_a_report_too(tmp_path):
    RunStore.create(tmp_path / "young", {}, {}).close()
    html = write_report(tmp_path / "young").read_text()
    assert Nesting(html).open == []
    assert "No trajectory was inserted yet" in html


def test_a_run_without_evaluation_shows_its_training(tmp_path, run_folder):
    with RunStore.read(run_folder) as source, RunStore.create(tmp_path / "blind", source.config, source.meta) as store:
        for trajectory in source.trajectories(newest=12):
            store.add_trajectory(with_pictures(source, trajectory), 5)
        html = render(store)
    assert Nesting(html).open == []
    assert "Training." in html
    assert 'class="hero"' not in html


def test_one_evaluation_stands_alone(tmp_path, run_folder):
    with RunStore.read(run_folder) as source, RunStore.create(tmp_path / "half", source.config, source.meta) as store:
        played = [with_pictures(source, t) for t in source.evaluation_trajectories("before")]
        store.add_evaluation(
            "before", 0, [*played, Trajectory("x", played[0].task, (), Outcome("invalid", "lost"))], 0.0
        )
        html = render(store)
    assert Nesting(html).open == []
    assert "1 invalid" in html


def test_hostile_goals_and_names_are_inert_everywhere(tmp_path, attack):
    evil = attack.goal
    config = {evil: {evil: evil}, "run": {"name": evil}, "policy": {"model": evil}}
    with RunStore.create(tmp_path / "evil", config, {evil: evil}) as store:
        played = Trajectory("an-id", attack, (), Outcome("failure", evil), Screen(b"x", 1, 1), evil, evil)
        store.add_trajectory(played, 0)
        store.add_evaluation("before", 0, [played], 0.0)
        store.add_evaluation("after", 0, [replace(played, outcome=Outcome("success"))], 0.0)
        store.add_evaluation(evil, 0, [played], 0.0)
        store.add_metrics(1, {evil: 1.0}, 0.0)
        html = render(store)
    assert "<img src=x" not in html
    assert "<b>bold</b>" not in html
    assert Nesting(html).references == [f"data:image/jpeg;base64,{'eA=='}"]


def test_a_replay_is_found_by_outcome_or_by_the_first_letters_of_its_id(run_folder, tmp_path):
    with RunStore.read(run_folder) as store:
        newest, won = store.ids(newest=1)[0], store.ids(newest=1, outcome="success")[0]
        examined = next(store.evaluation_trajectories("after")).id
    for selection, id_ in (("latest", newest), ("success", won), (won[:13], won), (examined, examined)):
        path = write_replay(run_folder, selection, tmp_path / "film.html")
        assert id_ in path.read_text()
    assert write_replay(run_folder) == run_folder / "replay.html"


@pytest.mark.parametrize("selection", ["nobody", "%", "_", ""])
def test_a_replay_selection_without_or_with_several_matches_lists_ids(run_folder, selection):
    with pytest.raises(RunNotFound, match="latest, success, failure"):
        write_replay(run_folder, selection)


def with_pictures(store: RunStore, trajectory: Trajectory) -> Trajectory:
    steps = tuple(replace(step, screen=store.screen(step.screen.digest)) for step in trajectory.steps)
    last = store.screen(trajectory.last_screen.digest) if trajectory.last_screen else None
    return replace(trajectory, steps=steps, last_screen=last)
