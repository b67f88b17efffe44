import asyncio

import pytest

from distrl.errors import ConfigError
from distrl.evaluation import oracle
from distrl.tasks.base import Template
from distrl.tasks.splits import TemplateSuite
from distrl.types import Answer, Done, Element, Press, Screen, Tap, Task

POPUP = (Element("Battery low", "popup", (0, 0, 100, 100)), Element("OK", "button", (40, 40, 60, 60)))
TASK = Task("1", "toy", "train", "a/b", "Go", 0, 9)


class ToyPhone:
    """Shows a pop-up after its first action."""

    address = "toy"

    def __init__(self):
        self.done = []

    async def reset(self, task):
        return await self.screen()

    async def perform(self, action):
        self.done.append(action)

    async def screen(self):
        return Screen(str(len(self.done)).encode(), 100, 100, POPUP if len(self.done) == 1 else ())

    async def close(self):
        pass

    async def evidence(self):
        return {"before": {"n": 0}, "after": {"n": len(self.done)}}


def play(monkeypatch, solve):
    template = Template("a/b", "a", ("Go",), {}, lambda ending: True, solve)
    monkeypatch.setattr(oracle, "load_suite", lambda name: TemplateSuite("toy", (template,)))
    phone = ToyPhone()
    return phone, asyncio.run(oracle.play_oracle(phone, TASK))


def test_popups_are_closed_between_actions_and_done_is_added_to_an_oracle_that_just_ends(monkeypatch):
    def solve(ui, params):
        yield Press("home")
        yield Press("back")

    phone, played = play(monkeypatch, solve)
    assert [action for _, action in played.steps] == [Press("home"), Tap(500, 500), Press("back"), Done()]
    assert phone.done == [Press("home"), Tap(500, 500), Press("back")]
    assert [shown.image for shown, _ in played.steps] == [b"0", b"1", b"2", b"3"]


def test_the_oracle_reads_the_newest_state(monkeypatch):
    def solve(ui, params):
        yield Press("home")
        yield Answer(str(ui.state["n"]))

    _, played = play(monkeypatch, solve)
    assert played.steps[-1][1] == Answer("2")


def test_a_demonstration_becomes_a_trajectory_that_is_not_judged_yet(monkeypatch):
    _, played = play(monkeypatch, lambda ui, params: iter(()))
    trajectory = oracle.as_trajectory(TASK, played)
    assert [step.decision.action for step in trajectory.steps] == [Done()]
    assert trajectory.outcome.kind == "invalid"


def test_an_oracle_that_is_lost_says_what_it_sees(monkeypatch):
    with pytest.raises(LookupError, match="Save"):
        play(monkeypatch, lambda ui, params: ui.tap("Save"))


def test_a_task_of_a_file_has_no_oracle_and_it_is_said_where_demonstrations_come_from():
    with pytest.raises(ConfigError, match="no oracle that solves 'open-it' of 'mine-1234abcd'.* general and webshop"):
        oracle.oracle_of(Task("t", "mine-1234abcd", "train", "open-it", "Open it", 0, 5))
