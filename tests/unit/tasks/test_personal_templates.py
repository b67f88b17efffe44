"""Tasks over contacts, messages, mail, calendar and notes, played on the phone itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from types import ModuleType

import pytest

from distrl.devices.sim.phone import Phone
from distrl.judges.rules import unmet
from distrl.tasks.base import ScreenDriver, Template
from distrl.tasks.general import calendar, contacts, mail, messages, notes
from distrl.tasks.general.records import find, others, same
from distrl.types import Action, Done, Screen, Task, Tree, ends_episode

MODULES: tuple[ModuleType, ...] = (contacts, messages, mail, calendar, notes)
TEMPLATES: dict[str, Template] = {t.name: t for module in MODULES for t in module.TEMPLATES}


def a_task(template: Template, seed: int) -> Task:
    rng = random.Random(seed)
    params = rng.choice(template.combinations())
    start = template.start(params, rng)
    return Task("t", "general", "train", template.name, "", seed, template.max_steps, params, start)


def phone_for(task: Task, popup_probability: float = 0.0) -> tuple[Phone, Tree]:
    phone = Phone(task.seed, popup_probability=popup_probability)
    phone.prepare(task.start)
    return phone, phone.snapshot()


def actions_of_oracle(template: Template, task: Task, phone: Phone) -> Iterator[Action]:
    ui = ScreenDriver()
    solution = None
    while True:
        shown = phone.render()
        image = shown.image.tobytes()
        ui.look(Screen(image, *shown.image.size, shown.elements, str(phone.frame["app"])), phone.snapshot())
        solution = solution or template.oracle(ui, task.params)
        action = ui.dismissal() or next(solution, Done())
        yield action
        if ends_episode(action):
            return
        phone.perform(action)


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize(("seed", "popup_probability"), [(11, 0.0), (12, 0.05), (13, 0.05)])
def test_the_oracle_solves_the_task_within_its_limit(name, seed, popup_probability):
    template = TEMPLATES[name]
    task = a_task(template, seed)
    phone, before = phone_for(task, popup_probability)
    actions = list(actions_of_oracle(template, task, phone))
    assert len(actions) <= task.max_steps <= 15
    assert unmet(template, task, actions[-1], {"before": before, "after": phone.snapshot()}) == ""


@pytest.mark.parametrize("name", TEMPLATES)
def test_doing_nothing_solves_no_task(name):
    template = TEMPLATES[name]
    for seed in range(5):
        task = a_task(template, seed)
        _, before = phone_for(task)
        assert unmet(template, task, Done(), {"before": before, "after": before})


@pytest.mark.parametrize("name", [name for name, t in TEMPLATES.items() if t.may_change])
def test_a_change_to_another_record_fails_the_task(name):
    template = TEMPLATES[name]
    task = a_task(template, 21)
    phone, before = phone_for(task)
    *_, last = actions_of_oracle(template, task, phone)
    app, key = template.may_change[0].split("/")
    wanted = set(map(str, task.params.values()))
    bystander = next(r for r in phone.state[app][key] if r.get("id") != 500 and not wanted & set(map(str, r.values())))
    phone.state[app][key].remove(bystander)
    assert unmet(template, task, last, {"before": before, "after": phone.snapshot()})


def test_words_are_the_same_in_any_case_and_with_a_full_stop():
    assert same("On my way.", " on  my WAY")
    assert not same("On my way", "On the way")


def test_others_leaves_out_what_matches_and_what_looking_around_changes():
    records: list[Tree] = [{"name": "Ada", "unread": True}, {"name": "Ben", "unread": False}]
    assert others(records, name="ada") == [{"name": "Ben"}]
    assert others(records) == [{"name": "Ada"}, {"name": "Ben"}]
    assert find(records, name="BEN") is records[1]
