from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.popups import BACK, PopupHandler, recognize
from distrl.devices.adb.screen_capture import CapturedScreen
from distrl.devices.adb.window import Front

ANR = "Application Not Responding: com.example"
CRASH = "Application Error: com.example"
GRANT = (
    "com.google.android.permissioncontroller/com.android.permissioncontroller.permission.ui.GrantPermissionsActivity"
)
OLD_GRANT = "com.android.packageinstaller/com.android.packageinstaller.permission.ui.GrantPermissionsActivity"
APP = "com.example/com.example.Main"
PLACES = {
    "aerr_wait": (0, 0, 10, 10), "aerr_close": (0, 20, 10, 30), "permission_deny_button": (40, 40, 60, 60),
    "permission_allow_button": (40, 0, 60, 20),
}  # fmt: skip
WAIT, CLOSE, DENY = (["input", "tap", *place] for place in (["5", "5"], ["5", "25"], ["50", "50"]))


class Panel:
    """A phone that shows these windows, one after each press; the last for ever."""

    def __init__(self, *windows: str, places: dict = PLACES) -> None:
        self.windows, self.known = list(windows), places
        self.pressed: list[list[str]] = []

    async def bounds_by_id(self, size):
        return self.known

    async def press(self, words):
        self.pressed.append(words)
        if len(self.windows) > 1:
            self.windows.pop(0)

    async def look(self):
        return CapturedScreen(b"", (100, 100), False, Front(window=self.windows[0]))


def cleared(
    panel: Panel, query: str = "", served: bool = False, times: int = 1
) -> tuple[list[tuple[str, ...]], Counter]:
    counts: Counter[str] = Counter()
    popups = PopupHandler(AdbOptions.parse(f"adb://x?{query}"), panel, panel.press, counts, served=served)

    async def scene():
        return [(await popups.dismiss(await panel.look(), panel.look))[1] for _ in range(times)]

    return asyncio.run(scene()), counts


@pytest.mark.parametrize(
    ("window", "kind"),
    [(ANR, "anr"), (CRASH, "crash"), (GRANT, "permission"), (OLD_GRANT, "permission"), (APP, None), ("", None)]
    + [("com.evil/com.evil.GrantPermissionsActivity", None), ("com.evil/Application Not Responding", None)],
)  # fmt: skip
def test_only_boxes_of_the_system_are_recognised(window, kind):
    box = recognize(window)
    assert (box and box.kind) == kind


@pytest.mark.parametrize(
    ("window", "press", "kind"), [(ANR, WAIT, "anr"), (CRASH, CLOSE, "crash"), (GRANT, DENY, "permission")]
)
def test_a_box_gets_its_answer_a_flag_and_a_count(window, press, kind):
    panel = Panel(window, APP)
    flags, counts = cleared(panel)
    assert panel.pressed == [press]
    assert flags == [(f"dismissed-{kind}",)]
    assert counts == {kind: 1}


def test_an_app_in_front_is_left_alone():
    panel = Panel(APP)
    assert cleared(panel)[0] == [()]
    assert panel.pressed == []


def test_an_app_that_hangs_again_and_again_is_closed():
    panel = Panel(ANR, APP, ANR, APP, ANR, APP)

    async def scene():
        popups = PopupHandler(AdbOptions.parse("adb://x"), panel, panel.press, Counter(), served=False)
        for _ in range(3):
            await popups.dismiss(await panel.look(), panel.look)
            if len(panel.windows) > 1:
                panel.windows.pop(0)

    asyncio.run(scene())
    assert panel.pressed == [WAIT, WAIT, CLOSE]


def test_boxes_that_never_end_are_shown_as_they_are():
    panel = Panel(GRANT)
    assert cleared(panel)[0] == [("dismissed-permission",)]
    assert len(panel.pressed) == 3


def test_without_a_tree_a_permission_is_left_by_back_and_a_hanging_app_is_left_to_the_agent():
    grant, anr = Panel(GRANT, APP, places={}), Panel(ANR, APP, places={})
    assert cleared(grant)[0] == [("dismissed-permission",)]
    assert cleared(anr)[0] == [()]
    assert (grant.pressed, anr.pressed) == ([BACK], [])


@pytest.mark.parametrize(
    ("query", "served", "answered"),
    [("", False, {ANR, GRANT}), ("", True, {ANR}), ("popups=dismiss", True, {ANR, GRANT})]
    + [("popups=leave", False, set()), ("dry=1", False, set()), ("popups=dismiss&dry=1", False, set())],
)  # fmt: skip
def test_the_address_says_which_boxes_are_answered(query, served, answered):
    panels = {window: Panel(window, APP) for window in (ANR, GRANT)}
    for panel in panels.values():
        cleared(panel, query, served)
    assert {window for window, panel in panels.items() if panel.pressed} == answered
