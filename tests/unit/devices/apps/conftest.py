"""A finger that uses an app by the words on the screen."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from distrl.devices.sim.apps.base import new_frame
from distrl.devices.sim.phone import Phone
from distrl.types import Element, LongPress, Press, Swipe, Tap, Tree, Type


class Finger:
    """Holds one phone with one app in front."""

    def __init__(self, app: str, seed: int) -> None:
        self.phone = Phone(seed)
        self.app = app
        self.phone.state["os"]["stack"].append(new_frame(app, self.phone.apps[app].home))

    @property
    def data(self) -> Tree:
        data: Tree = self.phone.state[self.app]
        return data

    @property
    def page(self) -> str:
        return str(self.phone.frame["page"])

    def texts(self, role: str = "") -> list[str]:
        return [e.text for e in self.phone.render().elements if not role or e.role == role]

    def find(self, text: str, role: str = "") -> Element:
        """Scrolls down to it."""
        for _ in range(12):
            for element in self.phone.render().elements:
                if element.text == text and (not role or element.role == role):
                    return element
            self.phone.perform(Swipe(500, 700, 500, 400))
        raise LookupError(f"{text!r} is not among {self.texts()}")

    def tap(self, text: str, role: str = "") -> None:
        self.phone.perform(Tap(*self._centre(text, role)))

    def hold(self, text: str) -> None:
        self.phone.perform(LongPress(*self._centre(text, "row")))

    def _centre(self, text: str, role: str) -> tuple[int, int]:
        left, top, right, bottom = self.find(text, role).bounds
        return round((left + right) * 500 / 192), round((top + bottom) * 500 / 384)

    def write(self, hint: str, text: str) -> None:
        self.tap(hint, "field")
        self.phone.perform(Type(text))

    def enter(self) -> None:
        self.phone.perform(Press("enter"))

    def back(self) -> None:
        self.phone.perform(Press("back"))


@pytest.fixture
def use() -> Callable[..., Finger]:
    def make(app: str, seed: int = 7) -> Finger:
        return Finger(app, seed)

    return make
