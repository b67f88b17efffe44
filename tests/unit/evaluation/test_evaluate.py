import pytest

from distrl.evaluation.evaluate import EpisodeResult, Evaluation, compare, evaluate
from distrl.evaluation.statistics import wilson
from distrl.types import Decision, Invalid, Outcome, Screen, Step, Task, Trajectory


def result(task, outcome, template="a/b", steps=4, invalid_actions=0):
    return EpisodeResult(task, template, "goal", outcome, steps, invalid_actions)


def test_invalid_episodes_are_reported_and_are_in_no_rate():
    evaluation = Evaluation(
        (result("1", "success", steps=2), result("2", "failure", invalid_actions=3), result("3", "invalid", steps=99))
    )
    assert (evaluation.success, evaluation.episodes, evaluation.invalid) == (0.5, 2, 1)
    assert evaluation.ci95 == wilson(1, 2)
    assert evaluation.mean_steps == 3.0
    assert evaluation.invalid_actions == 3


def test_an_evaluation_of_nothing_claims_nothing():
    evaluation = Evaluation((result("1", "invalid"),))
    assert (evaluation.success, evaluation.ci95, evaluation.mean_steps) == (0.0, (0.0, 1.0), 0.0)


def test_templates_are_listed_apart_in_alphabetical_order():
    table = Evaluation((result("1", "success", "z/z"), result("2", "failure"), result("3", "success"))).by_template()
    assert list(table) == ["a/b", "z/z"]
    assert table["a/b"].success == 0.5


def test_trajectories_become_results():
    decision = Decision(Invalid("gibberish", "no action"), "gibberish", (1,), (0.0,), 0.1, 3)
    task = Task("id", "general", "test-instances", "clock/alarm", "Set it", 0, 15)
    played = Trajectory("t", task, (Step(Screen(b"x", 1, 1), decision),), Outcome("failure"))
    assert evaluate([played]).results == (EpisodeResult("id", "clock/alarm", "Set it", "failure", 1, 1, "t"),)


def test_a_comparison_pairs_tasks_whatever_their_order_and_drops_invalid_ones():
    before = Evaluation(
        (result("1", "failure"), result("2", "success"), result("3", "invalid"), result("4", "failure"))
    )
    after = Evaluation((result("4", "success"), result("3", "success"), result("2", "success"), result("1", "failure")))
    comparison = compare(before, after)
    assert comparison.pairs == 3
    assert comparison.difference.estimate == pytest.approx(1 / 3)
    summary = comparison.summary()
    assert summary["success_before"] == pytest.approx(1 / 3)
    assert summary["success_after"] == 0.75
    assert summary["difference_ci95"][0] < 1 / 3 < summary["difference_ci95"][1]
    assert (summary["episodes"], summary["invalid_before"]) == (4, 1)


def test_repeats_of_one_task_are_paired_in_order():
    before = Evaluation((result("1", "failure"), result("1", "success")))
    after = Evaluation((result("1", "success"), result("1", "success")))
    assert compare(before, after).pairs == 2
    assert compare(before, after).difference.estimate == 0.5
