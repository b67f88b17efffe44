"""The phone on a demo app: what each action does to the tree and to the screen."""

from __future__ import annotations

import pytest

from distrl.devices.sim.phone import Phone
from distrl.types import Answer, Done, Impossible, Invalid, LongPress, Press, Swipe, Tap, Type, Wait

DOWN, UP = Swipe(500, 700, 500, 300), Swipe(500, 300, 500, 700)


def titles(phone):
    return [e.text for e in phone.render().elements]


def test_a_tap_on_an_icon_opens_its_app(build, hand):
    phone = build(page="")
    hand(phone).tap("Demo", "icon")
    assert [f["app"] for f in phone.system["stack"]] == ["launcher", "demo"]
    assert phone.system["used"] == ["demo"]


def test_the_back_arrow_is_shown_only_above_another_page_of_an_app(build, hand):
    phone = build()
    assert hand(phone).find("Back", "icon") is None
    hand(phone).tap("First row")
    hand(phone).tap("Back", "icon")
    assert phone.frame["page"] == "main"


def test_a_toggle_flips_and_says_so(build, hand):
    phone = build()
    assert hand(phone).find("Wireless").checked is False
    assert "off" in [w for w, _, _ in phone.render().words]
    hand(phone).tap("Wireless")
    assert hand(phone).find("Wireless").checked is True
    assert "on" in [w for w, _, _ in phone.render().words]


def test_a_tap_on_a_slider_sets_the_tenth_under_the_finger(build, hand):
    phone = build()
    left, top, right, bottom = hand(phone).find("Level", "slider").bounds
    for share, value in ((0.0, 0), (0.31, 30), (0.98, 100)):
        x = (left + share * (right - 1 - left)) / 0.192
        phone.perform(Tap(round(x), round((top + bottom) / 2 / 0.384)))
        assert phone.state["demo"]["level"] == value


def test_a_slider_can_be_dragged(build, hand):
    phone = build()
    x, y = hand(phone).at("Level", "slider")
    phone.perform(Swipe(x, y, 1000, y))
    assert phone.state["demo"]["level"] == 100


def test_a_stepper_counts(build, hand):
    phone = build()
    hand(phone).tap("Increase Count")
    hand(phone).tap("Increase Count")
    hand(phone).tap("Decrease Count")
    assert phone.state["demo"]["count"] == 2
    assert hand(phone).find("2", "text")


def test_a_wheel_turns_by_tap_and_by_swipe(build, hand):
    phone = build()
    hand(phone).tap("08", "wheel")
    assert phone.state["demo"]["hour"] == "08"
    x, y = hand(phone).at("08", "wheel")
    phone.perform(Swipe(x, y, x, y + 73))  # one line down brings the value above
    assert phone.state["demo"]["hour"] == "07"


def test_a_long_press_sends_its_own_event(build, hand):
    phone = build()
    phone.perform(LongPress(*hand(phone).at("First row")))
    assert phone.state["demo"]["log"] == [["held"]]
    assert phone.frame["page"] == "main"


@pytest.mark.parametrize("text", ["Ada", 'a, "quoted" word', "two\nlines", "😀 ü €", " "])
def test_text_arrives_in_the_focused_field_verbatim(build, hand, text):
    phone = build()
    hand(phone).tap("Your name", "field")
    phone.perform(Type(text))
    phone.perform(Type("!"))
    assert phone.frame["fields"]["name"] == text + "!"
    assert hand(phone).find(text + "!", "field").focused


def test_text_without_a_focused_field_goes_nowhere_and_the_phone_says_so(build):
    phone = build()
    phone.perform(Type("hello"))
    assert phone.frame["fields"] == {}
    assert any(e.role == "snackbar" for e in phone.render().elements)
    phone.perform(Press("enter"))
    assert not any(e.role == "snackbar" for e in phone.render().elements)


def test_keys_type_delete_and_submit(build, hand):
    phone = build()
    hand(phone).tap("Your name", "field")
    for key in ("h", "i", "Space", "x", "Backspace", "7", "Enter"):
        hand(phone).tap(key, "key")
    assert phone.state["demo"]["log"] == [["name", "hi 7"]]
    assert not any(e.role == "key" for e in phone.render().elements)


def test_enter_submits_and_closes_the_keyboard(build, hand):
    phone = build()
    hand(phone).tap("Your name", "field")
    phone.perform(Type("Ada"))
    phone.perform(Press("enter"))
    assert phone.state["demo"]["log"] == [["name", "Ada"]]
    assert phone.frame["focus"] == ""


def test_the_clear_icon_empties_the_field_and_keeps_the_focus(build, hand):
    phone = build()
    hand(phone).tap("Your name", "field")
    assert hand(phone).find("Clear", "icon") is None
    phone.perform(Type("Ada"))
    hand(phone).tap("Clear", "icon")
    assert phone.frame["fields"]["name"] == ""
    assert phone.frame["focus"] == "name"


def test_the_send_icon_of_a_footer_submits(build, hand):
    phone = build("chat")
    hand(phone).tap("Say", "field")
    phone.perform(Type("hello"))
    hand(phone).tap("Send", "icon")
    assert phone.state["demo"]["log"] == [["m", "hello"]]


def test_a_chat_opens_at_its_end_and_scrolls_up(build, hand):
    phone = build("chat")
    assert hand(phone).find("message 29")
    assert hand(phone).find("message 0") is None
    for _ in range(10):
        phone.perform(UP)
    assert hand(phone).find("message 0")


def test_the_focused_field_stays_above_the_keyboard(build, hand):
    phone = build("list")
    for _ in range(10):
        phone.perform(DOWN)
    hand(phone).tap("Last field", "field")
    field = hand(phone).find("Last field", "field")
    keys = [e for e in phone.render().elements if e.role == "key"]
    assert field.bounds[3] <= min(e.bounds[1] for e in keys)


def test_a_list_scrolls_by_the_way_of_the_finger_and_stops_at_its_ends(build, hand):
    phone = build("list")
    before = hand(phone).find("Row 5", "row").bounds[1]
    phone.perform(Swipe(500, 700, 500, 600))
    assert before - hand(phone).find("Row 5", "row").bounds[1] == pytest.approx(38.4, abs=1)
    phone.perform(UP)
    assert phone.frame["scroll"] == 0
    for _ in range(20):
        phone.perform(DOWN)
    end = phone.frame["scroll"]
    phone.perform(DOWN)
    assert phone.frame["scroll"] == end
    assert hand(phone).find("Last field")


def test_what_is_scrolled_away_is_neither_listed_nor_touchable(build, hand):
    phone = build("list")
    for _ in range(20):
        phone.perform(DOWN)
    assert hand(phone).find("Row 0") is None
    assert "List" in titles(phone)
    x, y = hand(phone).at("List")
    phone.perform(Tap(x, y))
    assert phone.state["demo"]["log"] == []


def test_back_closes_the_top_thing_first(build, hand):
    phone = build("list")
    hand(phone).phone.perform(DOWN)
    phone.system["stack"].insert(1, {**phone.frame, "page": "main", "scroll": 0})
    phone.frame["focus"] = "last"
    phone.system["dialog"] = {"app": "demo", "name": "sure", "args": {"name": "it"}}
    phone.system["popup"] = {"kind": "battery", "app": "demo"}
    seen = []
    for _ in range(5):
        phone.perform(Press("back"))
        system = phone.system
        seen.append((system["popup"] is None, system["dialog"] is None, phone.frame["focus"], phone.frame["page"]))
    assert seen == [
        (True, False, "last", "list"),
        (True, True, "", "list"),
        (True, True, "", "main"),
        (True, True, "", "home"),
        (True, True, "", "home"),
    ]


def test_back_closes_the_keyboard_before_the_page(build, hand):
    phone = build()
    hand(phone).tap("Your name", "field")
    phone.perform(Press("back"))
    assert (phone.frame["focus"], phone.frame["page"]) == ("", "main")


def test_home_leaves_only_the_home_screen(build, hand):
    phone = build("list")
    phone.system["dialog"] = {"app": "demo", "name": "sure", "args": {"name": "it"}}
    phone.perform(Press("home"))
    assert [f["page"] for f in phone.system["stack"]] == ["home"]
    assert phone.system["dialog"] is None


def test_the_system_buttons_do_what_the_keys_do(build, hand):
    phone = build("list")
    hand(phone).tap("System back", "icon")
    assert phone.frame["app"] == "launcher"
    phone = build("list")
    phone.perform(Wait())
    hand(phone).tap("Home", "icon")
    assert phone.frame["app"] == "launcher"


def test_recents_lists_the_apps_used_last_first_and_reopens_one(hand):
    phone = Phone(0)
    phone.system["used"] = ["mail", "clock"]
    hand(phone).tap("Recents", "icon")
    assert [e.text for e in phone.render().elements if e.role == "row"] == ["Mail", "Clock"]
    hand(phone).tap("Clock", "row")
    assert [f["app"] for f in phone.system["stack"]] == ["launcher", "clock"]
    assert phone.system["used"] == ["clock", "mail"]


def test_a_dialog_hides_what_is_behind_it_and_its_button_answers_after_closing(build, hand):
    phone = build()
    hand(phone).tap("Delete", "icon")
    assert hand(phone).find("Sure?", "dialog")
    assert hand(phone).find("Wireless") is None
    hand(phone).tap("Yes", "button")
    assert phone.system["dialog"] is None
    assert phone.state["demo"]["log"] == [["yes"]]


def test_a_tap_outside_a_dialog_closes_it_and_one_on_it_does_not(build, hand):
    phone = build()
    hand(phone).tap("Delete", "icon")
    phone.perform(Tap(500, 460))
    assert phone.system["dialog"] is not None
    phone.perform(Tap(500, 900))
    assert phone.system["dialog"] is None
    assert phone.state["demo"]["log"] == []


def test_swipes_on_a_page_that_does_not_scroll_go_to_the_app(build, hand):
    phone = build(page="")
    phone.perform(Swipe(800, 500, 200, 500))
    assert phone.state["launcher"]["position"] == 1
    phone.perform(DOWN)
    assert phone.frame["page"] == "drawer"


def test_the_drawer_is_not_below_the_app_it_opened(build, hand):
    phone = build(page="")
    phone.perform(DOWN)
    hand(phone).tap("Demo", "icon")
    assert [f["page"] for f in phone.system["stack"]] == ["home", "main"]


def test_a_very_short_swipe_is_a_tap(build, hand):
    phone = build()
    x, y = hand(phone).at("Wireless")
    phone.perform(Swipe(x, y, x + 5, y + 5))
    assert phone.state["demo"]["wifi"] is True


@pytest.mark.parametrize("action", [Wait(), Done(), Answer("42"), Impossible(), Invalid("tap tap", "no numbers")])
def test_these_actions_change_nothing(build, action):
    phone = build(popup_probability=1.0)
    phone.render()
    before = phone.snapshot()
    image = phone.render().image
    phone.perform(action)
    assert phone.snapshot() == before
    assert phone.render().image is image


def test_a_tap_on_nothing_repaints_nothing(build):
    phone = build("all")
    image = phone.render().image
    phone.perform(Tap(5, 60))
    assert phone.render().image is image


def test_an_event_without_an_answer_is_named(build, hand):
    phone = build()
    phone.compose().scene.targets.clear()
    with pytest.raises(LookupError, match="no on_fly"):
        phone._send(("fly",))


@pytest.mark.parametrize("corner", [(0, 0), (1000, 0), (0, 1000), (1000, 1000)])
def test_every_corner_of_the_screen_can_be_touched_and_does_nothing(build, corner):
    phone = build()
    image = phone.render().image
    phone.perform(Tap(*corner))
    assert phone.render().image.size == image.size
    assert phone.state["demo"] == build().state["demo"]
