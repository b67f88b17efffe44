"""A task's start edits."""

from __future__ import annotations

import pytest

from distrl.devices.sim import state
from distrl.devices.sim.phone import Phone


def tree():
    return {
        "os": {"stack": [{"app": "launcher", "page": "home"}]},
        "launcher": {},
        "clock": {
            "alarms": [{"time": "07:30", "on": True}, {"time": "08:00", "on": True}],
            "names": ["a"],
            "volume": 3,
        },
    }


def test_set_writes_a_value_also_into_a_list():
    t = tree()
    state.apply(t, (("set", "clock/volume", 5), ("set", "clock/alarms/1/on", False)), seed=0)
    assert t["clock"]["volume"] == 5
    assert [a["on"] for a in t["clock"]["alarms"]] == [True, False]


def test_add_inserts_at_a_place_that_the_seed_decides():
    places = set()
    for seed in range(30):
        t = tree()
        state.apply(t, (("add", "clock/alarms", {"time": "09:00"}),), seed)
        again = tree()
        state.apply(again, (("add", "clock/alarms", {"time": "09:00"}),), seed)
        assert t == again
        places.add([a["time"] for a in t["clock"]["alarms"]].index("09:00"))
    assert places == {0, 1, 2}


def test_what_was_added_is_not_shared_with_the_task():
    t, alarm = tree(), {"time": "09:00", "days": []}
    state.apply(t, (("add", "clock/alarms", alarm),), 0)
    next(a for a in t["clock"]["alarms"] if a["time"] == "09:00")["days"].append("Mon")
    assert alarm["days"] == []


def test_drop_removes_the_items_that_match_all_keys():
    t = tree()
    state.apply(t, (("drop", "clock/alarms", {"time": "07:30", "on": False}),), 0)
    assert len(t["clock"]["alarms"]) == 2
    state.apply(t, (("drop", "clock/alarms", {"time": "07:30", "on": True}), ("drop", "clock/names", "a")), 0)
    assert [a["time"] for a in t["clock"]["alarms"]] == ["08:00"]
    assert t["clock"]["names"] == []


def test_open_puts_the_page_in_front():
    phone = Phone(0)
    phone.prepare((("open", "contacts", "list"),))
    assert [(f["app"], f["page"]) for f in phone.system["stack"]] == [("launcher", "home"), ("contacts", "list")]


@pytest.mark.parametrize(
    "edit",
    [
        ("set", "clock/nothing/here", 1),
        ("add", "clock/volume", 1),
        ("drop", "radio/stations", {}),
        ("open", "radio", "main"),
        ("paint", "clock/volume", 1),
    ],
)
def test_an_edit_that_this_phone_cannot_take_is_named(edit):
    with pytest.raises(state.BadEdit, match=edit[0]):
        state.apply(tree(), (edit,), 0)


def test_three_of_ten_phones_start_inside_an_app_unless_the_task_says_where():
    fronts = []
    for seed in range(200):
        phone = Phone(seed)
        phone.prepare(())
        fronts.append(phone.frame["app"])
    assert 0.2 < sum(app != "launcher" for app in fronts) / 200 < 0.4
    assert len(set(fronts)) > 8
