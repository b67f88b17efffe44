import pytest

from distrl.devices.sim.phone import Phone
from distrl.types import LongPress, Press, Swipe, Tap, Type

UP, LEFT, RIGHT = Swipe(500, 700, 500, 300), Swipe(800, 480, 200, 480), Swipe(200, 480, 800, 480)


def phone(*edits, seed=3):
    it = Phone(seed)
    it.prepare(edits if any(edit[0] == "open" for edit in edits) else (*edits, ("open", "launcher", "home")))
    return it


def place(it, text, role=""):
    element = next(e for e in it.render().elements if e.text == text and (not role or e.role == role))
    left, top, right, bottom = element.bounds
    return (left + right) * 500 // 192, (top + bottom) * 500 // 384


def tap(it, text, role=""):
    it.perform(Tap(*place(it, text, role)))


def icons(it):
    return {e.text for e in it.render().elements if e.role == "icon"} - {"Home", "System back", "Recents"}


def test_phones_differ_in_where_their_icons_are():
    assert len({place(it, "Search apps") + tuple(sorted(icons(it))) for it in map(Phone, range(12))}) > 8


def test_home_pages_turn_by_swiping_and_stop_at_their_ends():
    it = phone()
    first = icons(it)
    it.perform(RIGHT)
    assert icons(it) == first
    it.perform(LEFT)
    assert icons(it) != first
    it.perform(RIGHT)
    assert icons(it) == first


def test_the_drawer_holds_every_app_and_back_closes_it():
    it = phone(("set", "store/installed", ["Chess"]))
    it.perform(UP)
    assert it.frame["page"] == "drawer"
    seen = icons(it)
    it.perform(UP)
    seen |= icons(it)
    assert seen >= {"Settings", "Clock", "Contacts", "Mail", "Browser", "Weather", "Music", "App Store", "Chess"}
    it.perform(Press("back"))
    assert it.frame["page"] == "home"


def test_search_opens_the_best_match_on_enter():
    it = phone()
    tap(it, "Search apps", "field")
    it.perform(Type("clo"))
    it.perform(Press("enter"))
    assert it.frame["app"] == "clock"
    assert it.state["launcher"]["recent"] == ["clo"]


def test_a_search_without_a_match_says_so():
    it = phone()
    tap(it, "Search apps", "field")
    it.perform(Type("zzz"))
    it.perform(Press("enter"))
    assert it.frame["app"] == "launcher"
    assert any(e.text == "No app found" for e in it.render().elements)


def test_an_app_from_the_store_opens_as_a_page_with_its_name():
    it = phone(("set", "store/installed", ["Chess"]))
    tap(it, "Search apps", "field")
    it.perform(Type("Chess"))
    tap(it, "Chess", "icon")
    assert it.frame["args"] == {"title": "Chess"}


def test_a_switch_flips_and_a_choice_returns_to_its_page():
    it = phone(("set", "settings/dark", False), ("set", "settings/font_size", "Small"), ("open", "settings", "display"))
    if not any(e.text == "Dark theme" for e in it.render().elements):
        it.perform(UP)
    tap(it, "Dark theme", "toggle")
    assert it.state["settings"]["dark"] is True
    tap(it, "Font size", "row")
    tap(it, "Huge", "checkbox")
    assert it.state["settings"]["font_size"] == "Huge"
    assert it.frame["page"] == "display"


def test_networks_show_only_while_wifi_is_on():
    it = phone(("set", "settings/wifi", True), ("open", "settings", "wifi"))
    network = it.state["settings"]["networks"][0]
    tap(it, network, "row")
    assert it.state["settings"]["network"] == network
    tap(it, "Use Wi-Fi", "toggle")
    assert not any(e.text == network for e in it.render().elements)


ALARM = {"time": "7:30", "label": "Tea", "on": True, "days": []}


@pytest.fixture
def clock():
    return phone(("set", "clock/alarms", [ALARM]), ("set", "clock/suggested", "9:00"), ("open", "clock", "alarms"))


def test_a_new_alarm_is_stored_only_when_it_is_saved(clock):
    tap(clock, "Add alarm")
    tap(clock, "10", "wheel")
    tap(clock, "05", "wheel")
    assert clock.state["clock"]["alarms"] == [ALARM]
    tap(clock, "Save", "button")
    assert clock.state["clock"]["alarms"][1] == {"time": "10:05", "label": "", "on": True, "days": []}
    assert clock.frame["page"] == "alarms"


def test_an_alarm_is_switched_off_in_the_list_and_deleted_by_a_long_press(clock):
    tap(clock, "7:30", "toggle")
    assert clock.state["clock"]["alarms"] == [{**ALARM, "on": False}]
    tap(clock, "Edit")
    clock.perform(LongPress(*place(clock, "7:30", "row")))
    tap(clock, "Cancel", "button")
    assert len(clock.state["clock"]["alarms"]) == 1
    clock.perform(LongPress(*place(clock, "7:30", "row")))
    tap(clock, "Delete", "button")
    assert clock.state["clock"]["alarms"] == []


def test_a_timer_takes_its_preset_when_it_starts(clock):
    tap(clock, "Timer", "tab")
    tap(clock, "25 min", "chip")
    tap(clock, "Start", "button")
    assert clock.state["clock"]["timer"] == {"minutes": 25, "running": True}


def test_the_stopwatch_counts_laps_while_it_runs(clock):
    tap(clock, "Stopwatch", "tab")
    tap(clock, "Start", "button")
    tap(clock, "Lap", "button")
    tap(clock, "Stop", "button")
    assert clock.state["clock"]["stopwatch"] == {"running": False, "laps": 1}
    tap(clock, "Reset", "button")
    assert clock.state["clock"]["stopwatch"]["laps"] == 0
