"""Any text that a keyboard is told to type arrives verbatim, or not at all."""

from __future__ import annotations

import base64

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from served import typed

from distrl.phone_server.packages import ADB_KEYBOARD, FAST_KEYBOARD, USUAL_KEYBOARD
from distrl.phone_server.phone import PhoneModel, ServedPhone

NASTY = [
    "'",
    '"',
    "$(reboot)",
    "`reboot`",
    "%s",
    "a\nb",
    "😀👩‍👩‍👧",
    "‮שלום",
    "\0",
    "a;reboot",
    "\\",
    "&& reboot",
    "#",
    "~",
    "*",
]


def focused(keyboard: str) -> ServedPhone:
    phone = ServedPhone(PhoneModel(seed=3), "test")
    typed(phone, "input keyevent HOME")
    left, top, right, bottom = next(e.bounds for e in phone.render().elements if e.text == "Search apps")
    typed(phone, f"input tap {(left + right) // 2} {(top + bottom) // 2}; ime set {keyboard}")
    return phone


def field_text(phone) -> str:
    frame = phone.evidence()["after"]["os"]["stack"][-1]
    return frame["fields"].get(frame["focus"], "")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture(scope="module")
def adb_phone() -> ServedPhone:
    return focused(ADB_KEYBOARD)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.sampled_from(NASTY), st.text()))
def test_any_string_arrives_verbatim(adb_phone, text):
    typed(adb_phone, "am broadcast -a ADB_CLEAR_TEXT")
    assert field_text(adb_phone) == ""
    status, out, _ = typed(adb_phone, f"am broadcast -a ADB_INPUT_B64 --es msg '{encoded(text)}'")
    assert status == 0
    assert "Broadcast completed: result=0" in out
    assert field_text(adb_phone) == text


@pytest.mark.parametrize("text", NASTY)
def test_so_does_it_through_the_keyboard_of_uiautomator2(text):
    phone = focused(FAST_KEYBOARD)
    out = typed(phone, f"am broadcast -a ADB_KEYBOARD_INPUT_TEXT --es text '{encoded(text)}'")[1]
    assert 'result=-1, data="success"' in out
    assert field_text(phone) == text


@pytest.mark.parametrize("message", ["%%%", "abc", "/w==", "7aCA"])
def test_what_is_no_text_is_not_typed(message):
    for keyboard, line in (
        (ADB_KEYBOARD, f"am broadcast -a ADB_INPUT_B64 --es msg '{message}'"),
        (FAST_KEYBOARD, f"am broadcast -a ADB_KEYBOARD_INPUT_TEXT --es text '{message}'"),
    ):
        phone = focused(keyboard)
        assert "result=0" in typed(phone, line)[1]
        assert field_text(phone) == ""


def test_half_a_character_is_not_typed():
    phone = focused(ADB_KEYBOARD)
    typed(phone, "am broadcast -a ADB_INPUT_CHARS --eia chars 97,55296")
    typed(phone, "am broadcast -a ADB_INPUT_CHARS --eia chars 97,99999999999")
    typed(phone, "am broadcast -a ADB_INPUT_TEXT --es msg 'a\udcff'")
    assert field_text(phone) == ""


def test_only_the_keyboard_in_use_hears_a_broadcast():
    phone = focused(USUAL_KEYBOARD)
    assert "result=0" in typed(phone, f"am broadcast -a ADB_INPUT_B64 --es msg {encoded('a')}")[1]
    assert field_text(phone) == ""


def test_keyboards_are_listed_set_and_reset(phone):
    assert ADB_KEYBOARD in typed(phone, "ime list -s")[1].splitlines()
    assert typed(phone, f"ime set {ADB_KEYBOARD}")[0] == 0
    assert typed(phone, "settings get secure default_input_method")[1] == f"{ADB_KEYBOARD}\n"
    assert typed(phone, "ime set no.such/.Keyboard")[0] == 1
    typed(phone, "ime reset")
    assert phone.keyboard == USUAL_KEYBOARD
