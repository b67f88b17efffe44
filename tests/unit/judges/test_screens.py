"""Rules that look at the last screen, on any phone."""

from __future__ import annotations

import asyncio

import pytest

from distrl.errors import CannotJudge
from distrl.judges.screens import ScreenJudge
from distrl.types import Answer, Decision, Done, Element, Impossible, Outcome, Screen, Step, Tap, Task, Trajectory

TEXTS = ("Wi-Fi", "Connected to  Home")


def judged(rules, last=None, *, foreground="com.android.settings", texts=TEXTS, said=True) -> Outcome:
    task = Task("t", "mine-1", "train", "wifi", "Turn it on", 0, 5, {"judge": rules} if rules is not None else {})
    elements = tuple(Element(text, "text", (0, 0, 1, 1)) for text in texts)
    screen = Screen(b"jpeg", 10, 20, elements, foreground)
    step = Step(screen, Decision(last or Done(), "", (), (), 0.0, 0))
    trajectory = Trajectory("id", task, (step,) if said else (), Outcome("invalid"), screen)
    return asyncio.run(ScreenJudge().judge(task, trajectory, None))


@pytest.mark.parametrize(
    "rules",
    [
        {"foreground": ["com.android.settings"]},
        {"shows": ["wi-fi"]},
        {"shows": ["Wi-Fi", "connected to home"]},
        {"foreground": ["com.android.settings"], "shows": ["Home"]},
    ],
)
def test_what_holds_is_a_success(rules):
    assert judged(rules) == Outcome("success")


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"foreground": ["com.android.chrome"]}, "com.android.settings is in front"),
        ({"shows": ["Wi-Fi", "Bluetooth"]}, "the screen does not show 'Bluetooth'"),
        ({"answer": ["56"]}, "the answer does not say '56'"),
        ({"foreground": ["com.android.settings"], "answer": ["56"]}, "the answer does not say '56'"),
    ],
)
def test_every_rule_must_hold(rules, reason):
    assert judged(rules) == Outcome("failure", reason)


def test_an_answer_holds_what_is_asked_for_in_any_case():
    assert judged({"answer": ["ulan bator"]}, Answer("It is  Ulan Bator.")).success
    assert not judged({"answer": ["ulan bator"]}, Answer("Astana")).success


@pytest.mark.parametrize(("last", "reason"), [(Impossible(), "the agent gave up"), (Tap(1, 1), "out of steps")])
def test_an_episode_not_declared_done_is_a_failure(last, reason):
    assert judged({"shows": ["Wi-Fi"]}, last) == Outcome("failure", reason)


def test_a_simulated_phone_names_its_apps_without_their_prefix():
    assert judged({"foreground": ["org.distrl.clock"]}, foreground="clock").success
    assert not judged({"foreground": ["org.distrl.clock"]}, foreground="mail").success


def test_without_a_rule_or_without_a_tree_nothing_is_decided():
    with pytest.raises(CannotJudge, match="judge.kind to vlm or chain"):
        judged(None)
    with pytest.raises(CannotJudge, match="tree=1"):
        judged({"shows": ["Wi-Fi"]}, texts=())
    assert not judged({"shows": ["Wi-Fi"], "foreground": ["a.b"]}, texts=()).success  # decided without the tree
