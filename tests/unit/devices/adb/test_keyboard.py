"""Any text arrives verbatim, or is refused; the usual keyboard is given back whatever happens."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from served import served

from distrl.devices.adb.keyboard import LONGEST_PIECE
from distrl.devices.open import open_device
from distrl.errors import ActionRefused, KeyboardMissing
from distrl.phone_server import packages
from distrl.phone_server.packages import USUAL_KEYBOARD
from distrl.types import Press, Tap, Task, Type

TASK = Task("a", "s", "train", "t", "goal", seed=11, max_steps=5)
NASTY = [
    "'", '"', "$(reboot)", "`reboot`", "%s", "%%s%s %", "100% sure", "a\nb", "tab\there", "😀👩‍👩‍👧", "‮שלום", "\0",
    "a;reboot", "\\", "&& reboot", "#", "~", "*", "-d", "--help", " lead and trail ", "é", "\x7f",
    "x" * (2 * LONGEST_PIECE) + "%s",
]  # fmt: skip


class Typist:
    """An open `adb://` phone whose search field has the focus."""

    def __init__(self, phones) -> None:
        self.served = phones.phone
        self.loop = asyncio.new_event_loop()
        self.device = open_device(f"adb://{phones.address}", seed=0, name="test/0")
        self.run(self.device.reset(TASK))
        self.run(self.device.perform(Press("home")))
        left, top, right, bottom = next(e.bounds for e in self.served.render().elements if e.text == "Search apps")
        self.run(self.device.perform(Tap((left + right) * 500 // 192, (top + bottom) * 500 // 384)))
        assert self.served.typing

    def run(self, work):
        return self.loop.run_until_complete(work)

    def typed(self, text: str) -> str:
        self.served.clear_field()
        self.run(self.device.perform(Type(text)))
        frame = self.served.evidence()["after"]["os"]["stack"][-1]
        return frame["fields"][frame["focus"]]

    def close(self) -> None:
        self.run(self.device.close())
        self.loop.close()


@pytest.fixture
def typist():
    with served(seed=3) as phones:
        typist = Typist(phones)
        yield typist
        typist.close()


@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.text(), st.text(st.sampled_from("%s' \"\\$`(){};&|<>*?~#!-\n\t aé😀א"), min_size=1)))
def check_verbatim(typist, text):
    assert typist.typed(text) == text
    assert typist.served.keyboard == USUAL_KEYBOARD


for nasty in NASTY:
    check_verbatim = example(text=nasty)(check_verbatim)


def test_any_string_arrives_verbatim(typist):
    check_verbatim(typist)


def test_half_a_character_is_refused_and_nothing_is_typed(typist):
    with pytest.raises(ActionRefused, match="half a character"):
        typist.run(typist.device.perform(Type("ab\ud800")))
    assert typist.typed("after") == "after"


def test_without_the_keyboard_plain_text_is_typed_and_the_rest_refused(typist, monkeypatch):
    monkeypatch.setattr("distrl.phone_server.commands.keyboards.KEYBOARDS", (packages.USUAL_KEYBOARD,))
    assert typist.typed("it's 100%s plain") == "it's 100%s plain"
    with pytest.raises(KeyboardMissing, match="adb install"):
        typist.typed("naïve")
    assert typist.typed("next") == "next"
