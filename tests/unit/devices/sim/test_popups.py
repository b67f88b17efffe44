"""Pop-ups that come by chance."""

from __future__ import annotations

import pytest

from distrl.tasks.base import DISMISSALS
from distrl.trees import diff
from distrl.types import Press, Swipe, Tap, Type

ELSEWHERE = Tap(5, 60)


def show(phone, kind):
    tree = phone.snapshot()
    tree["os"]["popup"] = {"kind": kind, "app": "demo"}
    phone.restore(tree)
    return phone


def with_popup(build, kind):
    return show(build(), kind)


def test_with_probability_one_a_popup_follows_every_action_and_with_zero_none(build):
    phone = build(popup_probability=1.0)
    phone.perform(ELSEWHERE)
    assert phone.system["popup"] is not None
    phone = build()
    for _ in range(50):
        phone.perform(ELSEWHERE)
        assert phone.system["popup"] is None


def test_popups_come_about_as_often_as_asked_and_in_all_kinds(build):
    phone = build(popup_probability=0.25)
    kinds = []
    for _ in range(400):
        phone.perform(ELSEWHERE)
        if phone.system["popup"]:
            kinds.append(phone.system["popup"]["kind"])
            phone.system["popup"] = None
    assert 50 < len(kinds) < 150
    assert set(kinds) == {"permission", "rating", "battery"}


@pytest.mark.parametrize("kind", ["permission", "rating", "battery"])
def test_dismissing_a_popup_changes_no_stored_data(build, hand, kind):
    phone = with_popup(build, kind)
    before = phone.snapshot()
    button = next(e for e in phone.render().elements if e.role == "button" and e.text in DISMISSALS)
    hand(phone).tap(button.text)
    assert phone.system["popup"] is None
    assert all(change.path.startswith("os/") for change in diff(before, phone.snapshot()))


@pytest.mark.parametrize(
    ("kind", "button", "mark"), [("permission", "Allow", "notifications"), ("rating", "Rate", "rated")]
)
def test_accepting_a_popup_leaves_a_mark_that_a_judge_can_see(build, hand, kind, button, mark):
    phone = with_popup(build, kind)
    hand(phone).tap(button)
    assert phone.state["permissions"][mark] == ["demo"]


def test_a_popup_keeps_every_touch_and_letter_from_the_page(build, hand):
    phone = build()
    hand(phone).tap("Your name", "field")
    show(phone, "battery").compose()
    before = phone.snapshot()
    for action in (Type("x"), Press("enter"), Swipe(500, 700, 500, 300), Tap(500, 440), Tap(500, 100)):
        phone.perform(action)
        phone.render()
    changed = [c.path for c in diff(before, phone.snapshot())]
    assert changed == ["os/ticks"]


def test_a_popup_hides_the_elements_behind_it(build):
    elements = with_popup(build, "permission").render().elements
    assert [e.role for e in elements if e.role != "icon"][:1] == ["popup"]
    assert not any(e.role in ("row", "toggle") for e in elements)
