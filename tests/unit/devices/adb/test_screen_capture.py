"""The size of a picture is that of the phone, turned as the phone is; both are read, never assumed."""

from __future__ import annotations

import asyncio

import pytest
from PIL import Image

from distrl.devices.adb.connection import ShellResult
from distrl.devices.adb.screen_capture import MARK, ScreenCapture
from distrl.errors import NoPicture
from distrl.phone_server.capture import png, raw


class Panel:
    """Calls to a phone that shows one colour."""

    address = "adb://panel"

    def __init__(self, shown: tuple[int, int], said: str, rotation: int = 0) -> None:
        self.shown, self.said, self.rotation = shown, said, rotation
        self.asked = 0

    async def shell(self, operation, script, *, again=True):
        self.asked += operation == "wm size"
        return ShellResult(0, (self.said if operation == "wm size" else self._window).encode(), b"")

    async def output(self, operation, script, read):
        image = Image.new("RGB", self.shown, "red")
        return read(png(image) if "-p" in script else raw(image) + MARK + self._window.encode())

    @property
    def _window(self) -> str:
        return f"mFocusedApp=ActivityRecord{{1 u0 com.example/.Main t1}}\nmCurrentRotation=ROTATION_{self.rotation}\n"


def look(panel: Panel):
    return asyncio.run(ScreenCapture(panel).capture())


def test_an_upright_and_a_turned_phone_are_seen_as_they_are():
    assert look(Panel((30, 60), "Physical size: 30x60")).size == (30, 60)
    turned = look(Panel((60, 30), "Physical size: 30x60", rotation=90))
    assert (turned.size, turned.front.package) == ((60, 30), "com.example")


@pytest.mark.parametrize(("shown", "rotation"), [((31, 60), 0), ((60, 30), 0), ((30, 60), 270)])
def test_a_picture_of_another_size_is_not_believed(shown, rotation):
    with pytest.raises(NoPicture, match="`wm size` says"):
        look(Panel(shown, "Physical size: 30x60", rotation))


def test_the_size_is_asked_for_once_and_again_when_it_changed():
    panel = Panel((30, 60), "Physical size: 30x60")
    capture = ScreenCapture(panel)

    async def unfold():
        await capture.capture()
        await capture.capture()
        assert panel.asked == 1
        panel.shown, panel.said = (50, 60), "Physical size: 30x60\nOverride size: 50x60"
        return await capture.capture()

    assert asyncio.run(unfold()).size == (50, 60)
    assert panel.asked == 2
