"""From made-up records to JSON, table and pictures."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest

from distrl.bench.learning.plan import GREEDY
from distrl.bench.learning.plots import draw_all
from distrl.bench.learning.record import Record
from distrl.bench.learning.reproduction import NOT_YET, page
from distrl.bench.learning.result import result
from distrl.bench.learning.table import markdown
from distrl.errors import ConfigError


@pytest.fixture
def figures(plan, made_up):
    return result(plan, made_up, ["distrl", "bench", "learning"])


def test_the_json_says_how_it_was_made_and_what_came_out(figures):
    again = json.loads(json.dumps(figures, allow_nan=False))
    assert {"command", "versions", "hardware", "date", "suite", "minutes", "seeds", "methods", "comparisons"} <= set(
        again
    )
    method = again["methods"]["a_ride"]
    for key in ("final_success", "test_apps", "seconds_to_60", "seconds_to_90", "curve", "trajectories", "per_seed"):
        assert method[key] is not None, key
    low, high = method["final_success_ci95"]
    assert low < method["final_success"] < high
    assert len(method["curve"]["seconds"]) == len(method["curve"]["success"])
    assert again["warm_start"]["final_success"] < method["final_success"]


def test_who_is_ahead_and_by_how_much(figures):
    comparisons = figures["comparisons"]
    ratio = comparisons["ratio_to_best_digirl"]["test_instances"]
    assert ratio["best"] == "digirl_async"
    assert 1.0 < ratio["ratio"]["ci95"][0] < ratio["ratio"]["estimate"]
    methods = figures["methods"]
    expected = methods["a_ride"]["final_success"] / methods["digirl_async"]["final_success"]
    assert ratio["ratio"]["estimate"] == pytest.approx(expected, abs=1e-3)
    in_rounds = comparisons["ratio_to_digirl_sync"]["test_instances"]
    assert in_rounds["best"] == "digirl_sync"
    assert in_rounds["ratio"]["estimate"] > ratio["ratio"]["estimate"]
    assert comparisons["ablations"]["a_ride_uniform"]["piece_pays"]


def test_how_much_sooner_the_rival_s_final_success_is_reached(figures):
    reaching = figures["comparisons"]["reaching_digirl_sync"]
    assert reaching["target"] == figures["methods"]["digirl_sync"]["training_success"]
    assert reaching["seconds"] < reaching["digirl_sync_seconds"]
    assert reaching["fraction"] == pytest.approx(reaching["seconds"] / reaching["digirl_sync_seconds"], abs=1e-3)


def test_times_are_to_shares_of_the_best_final_training_success(figures):
    assert figures["best_training_success"] == figures["methods"]["a_ride"]["training_success"]
    assert figures["methods"]["a_ride"]["seconds_to_60"] < figures["methods"]["a_ride"]["seconds_to_90"]
    assert figures["methods"]["digirl_sync"]["seconds_to_90"] is None


def test_a_run_that_failed_is_named_with_its_reason_and_the_others_count(plan, made_up):
    broken = [r if (r.method, r.seed) != ("a_ride", 1) else replace(r, failed="the GPU is on fire") for r in made_up]
    figures = result(plan, broken, [])
    assert figures["methods"]["a_ride"]["failed"] == {"1": "the GPU is on fire"}
    assert figures["methods"]["a_ride"]["runs"] == 1
    text = markdown(figures)
    assert "A-RIDE (1 of 2 runs)" in text
    assert "**a_ride, seed 1, failed**: the GPU is on fire" in text


def test_a_method_of_which_every_run_failed_has_no_figures_and_breaks_nothing(plan, made_up, tmp_path):
    broken = [replace(r, failed="no") if r.method in ("a_ride", "digirl_sync") else r for r in made_up]
    figures = result(plan, broken, [])
    assert figures["methods"]["a_ride"]["final_success"] is None
    assert figures["comparisons"]["ratio_to_best_digirl"] == {}
    assert "(0 of 2 runs)" in markdown(figures)
    assert draw_all(figures, tmp_path)


def test_a_method_that_solves_nothing_is_not_said_to_be_surely_hopeless(plan, made_up):
    lost = [
        replace(r, tests={split: replace(exam, outcomes="0" * len(exam.tasks)) for split, exam in r.tests.items()})
        for r in made_up
    ]
    method = result(plan, lost, [])["methods"]["a_ride"]
    assert method["final_success"] == method["final_success_ci95"][0] == 0.0
    assert 0.05 < method["final_success_ci95"][1] < 0.1


def test_a_test_that_is_newer_than_a_record_is_shown_where_it_was_played(plan, made_up):
    start, *others = made_up
    found = result(plan, [replace(start, tests={**start.tests, GREEDY: start.tests["test-instances"]}), *others], [])
    assert found["warm_start"]["test_instances_greedy"] == found["warm_start"]["final_success"]
    assert "test_instances_greedy" not in found["methods"]["a_ride"]
    assert set(found["comparisons"]["ratio_to_best_digirl"]) == {"test_instances", "test_apps"}
    rows = [line.split(" | ") for line in markdown(found).splitlines()]
    cells = {row[0]: row[1:3] for row in rows if len(row) > 2}
    assert cells["| warm start, no RL"][0] == cells["| warm start, no RL"][1]
    assert cells["| A-RIDE"][1] == "–"


def test_a_test_that_some_runs_have_played_says_how_many(plan, made_up):
    first = next(record for record in made_up if record.method == "a_ride")
    tested = replace(first, tests={**first.tests, GREEDY: first.tests["test-instances"]})
    found = result(plan, [tested if record is first else record for record in made_up], [])
    ours = found["methods"]["a_ride"]
    assert ours["test_instances_greedy_runs"] == 1
    assert ours["test_instances_greedy"] == ours["per_seed"][0]["test_instances"]
    assert "final_success_runs" not in ours
    assert "; 1 seed)" in markdown(found)


def test_a_collapse_is_named(plan, made_up):
    fallen = made_up[-1]
    falling = replace(fallen.episodes, success=(np.arange(len(fallen.episodes)) < 200).astype(float))
    figures = result(plan, [*made_up[:-1], replace(fallen, episodes=falling)], [])
    assert figures["comparisons"]["collapsed"] == [f"{fallen.method}-{fallen.seed}"]


def test_runs_that_were_tested_on_different_tasks_are_not_compared(plan, made_up):
    test = made_up[-1].tests["test-instances"]
    other = {**made_up[-1].tests, "test-instances": replace(test, tasks=("x", *test.tasks[1:]))}
    with pytest.raises(ConfigError, match="different tasks"):
        result(plan, [*made_up[:-1], replace(made_up[-1], tests=other)], [])


def test_the_pictures_are_svg_and_show_every_method(figures, tmp_path):
    paths = draw_all(figures, tmp_path / "plots")
    assert {path.name for path in paths} >= {"learning-general-baselines-time.svg", "learning-general-final.svg"}
    for path in paths:
        shown = "".join(ElementTree.parse(path).getroot().itertext())
        assert "general: " in shown
        assert "A-RIDE" in shown


def test_a_record_comes_back_as_it_was_written(made_up, tmp_path):
    record = made_up[1]
    record.write(tmp_path / "record.json")
    again = Record.read(tmp_path / "record.json")
    assert (again.method, again.config, again.tests) == (record.method, record.config, record.tests)
    np.testing.assert_allclose(again.episodes.seconds, record.episodes.seconds, atol=0.01)
    np.testing.assert_array_equal(again.episodes.success, record.episodes.success)


def test_the_page_on_reproduction_shows_what_was_measured_and_says_what_was_not(figures, tmp_path):
    (tmp_path / "learning-general.json").write_text(json.dumps(figures))
    text = page(tmp_path, tmp_path)
    ours = figures["methods"]["a_ride"]
    assert f"{100 * ours['training_success']:.1f} / {100 * ours['final_success']:.1f} (" in text
    assert f"| Web Shopping | A-RIDE, train / test | 69.8 ± 0.5 / 68.5 ± 1.7 | {NOT_YET} |" in text
    assert "distrl bench learning" in text
