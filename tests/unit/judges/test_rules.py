import asyncio

import pytest

from distrl.errors import CannotJudge
from distrl.judges import rules
from distrl.judges.rules import RuleJudge
from distrl.tasks.base import Template
from distrl.tasks.splits import TemplateSuite
from distrl.types import Answer, Decision, Done, Impossible, Outcome, Screen, Step, Task, Trajectory, Wait

TEMPLATE = Template(
    name="settings/wifi",
    app="settings",
    phrasings=("Turn on Wi-Fi and say {word}",) * 3,
    space={"word": ("yes",)},
    check=lambda ending: ending.after["settings"]["wifi"] and ending.answer in ("", ending.params["word"]),
    oracle=lambda ui, params: iter(()),
    may_change=("settings/wifi",),
)
TASK = Task("1", "toy", "train", "settings/wifi", "Turn on Wi-Fi", 0, 5, {"word": "yes"})
BEFORE = {"os": {"stack": []}, "settings": {"wifi": False, "dark": False}, "browser": {"history": []}}


@pytest.fixture(autouse=True)
def toy_suite(monkeypatch):
    monkeypatch.setattr(rules, "load_suite", lambda name: TemplateSuite("toy", (TEMPLATE,)))


def judge(action, after=None, evidence=True, **settings):
    steps = (Step(Screen(b"", 1, 1), Decision(action, "", (), (), 0.0, 0)),) if action else ()
    trajectory = Trajectory("t", TASK, steps, Outcome("invalid"))
    after = {**BEFORE, "settings": {**BEFORE["settings"], **settings}, **(after or {})}
    return asyncio.run(RuleJudge().judge(TASK, trajectory, {"before": BEFORE, "after": after} if evidence else None))


def test_a_reached_goal_that_the_agent_declares_is_success():
    assert judge(Done(), wifi=True).success
    assert judge(Answer("yes"), wifi=True).success


def test_a_goal_not_reached_is_failure():
    assert judge(Done()) == Outcome("failure", "the goal is not reached")


def test_a_wrong_answer_is_failure():
    assert judge(Answer("no"), wifi=True).kind == "failure"


def test_a_side_effect_is_failure_and_named():
    assert judge(Done(), wifi=True, dark=True) == Outcome("failure", "side effect: settings/dark")


def test_what_is_in_front_and_traces_of_looking_around_are_no_side_effects():
    assert judge(Done(), after={"os": {"stack": [1]}, "browser": {"history": ["page"]}}, wifi=True).success


def test_running_out_of_steps_is_failure_even_if_the_goal_is_reached():
    assert judge(Wait(), wifi=True) == Outcome("failure", "out of steps")
    assert judge(None, wifi=True) == Outcome("failure", "out of steps")


def test_giving_up_is_failure_even_if_the_goal_is_reached():
    assert judge(Impossible(), wifi=True) == Outcome("failure", "the agent gave up")


def test_without_evidence_it_raises_and_does_not_guess():
    with pytest.raises(CannotJudge, match="another judge"):
        judge(Done(), evidence=False)
