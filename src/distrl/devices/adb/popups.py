"""Dismisses system dialogs over an app: recognised by the window in front, answered by a button of the UI tree.

Both the window and the button ids must be the system's; an app that imitates both only gets its own button tapped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.screen_capture import CapturedScreen, ScreenCapture

MAX_IN_A_ROW = 3
"""Dialogs dismissed in a row before the screen is returned as it is."""
MAX_WAITS = 2
"""How often per episode "Wait" is pressed for an app that does not respond; then it is closed."""
WAIT, CLOSE = "aerr_wait", "aerr_close"
BACK = ["input", "keyevent", "4"]


@dataclass(frozen=True, slots=True)
class PopupKind:
    """`buttons`: ends of resource ids, in order of preference. `back`: press back when none is found."""

    kind: str
    window: re.Pattern[str]
    buttons: tuple[str, ...]
    back: bool = False


POPUP_KINDS = (
    PopupKind("anr", re.compile(r"^Application Not Responding"), (WAIT, CLOSE)),
    PopupKind("crash", re.compile(r"^Application Error"), (CLOSE, "aerr_mute")),
    PopupKind(
        "permission",
        re.compile(r"^[\w.]*(?:permissioncontroller|packageinstaller)/[\w.]*GrantPermissions"),
        (
            "permission_deny_button",
            "permission_deny_and_dont_ask_again_button",
            "permission_no_upgrade_button",
            "permission_no_upgrade_and_dont_ask_again_button",
        ),
        back=True,
    ),
)
BROKEN = frozenset(("anr", "crash"))
"""On a served phone the agent has to handle all other dialogs itself."""

Press = Callable[[list[str]], Awaitable[None]]


def recognize(window: str) -> PopupKind | None:
    return next((popup for popup in POPUP_KINDS if popup.window.search(window)), None)


class PopupHandler:
    """Dismisses the dialogs of one phone and counts them."""

    def __init__(
        self, options: AdbOptions, capture: ScreenCapture, press: Press, dismissed: Counter[str], *, served: bool
    ) -> None:
        kinds = frozenset(popup.kind for popup in POPUP_KINDS)
        usual = BROKEN if served else kinds
        self._kinds = {"auto": usual, "dismiss": kinds, "leave": frozenset[str]()}[options.popups]
        if options.dry:
            self._kinds = frozenset()
        self._capture = capture
        self._press = press
        self._waited = 0
        self._dismissed = dismissed

    def start_episode(self) -> None:
        """Reset the count of waits."""
        self._waited = 0

    async def dismiss(
        self, shot: CapturedScreen, recapture: Callable[[], Awaitable[CapturedScreen]]
    ) -> tuple[CapturedScreen, tuple[str, ...]]:
        """The screen after the dialogs are dismissed, and a flag for each kind."""
        flags: list[str] = []
        for _ in range(MAX_IN_A_ROW):
            popup = recognize(shot.front.window)
            if popup is None or popup.kind not in self._kinds or not await self._press_button(popup, shot.size):
                break
            self._dismissed[popup.kind] += 1
            flags.append(f"dismissed-{popup.kind}")
            shot = await recapture()
        return shot, tuple(dict.fromkeys(flags))

    async def _press_button(self, popup: PopupKind, size: tuple[int, int]) -> bool:
        bounds = await self._capture.bounds_by_id(size)
        for button in self._preferred(popup):
            if button in bounds:
                left, top, right, bottom = bounds[button]
                await self._press(["input", "tap", str((left + right) // 2), str((top + bottom) // 2)])
                self._waited += button == WAIT
                return True
        if popup.back:
            await self._press(BACK)
        return popup.back

    def _preferred(self, popup: PopupKind) -> tuple[str, ...]:
        return popup.buttons[::-1] if popup.kind == "anr" and self._waited >= MAX_WAITS else popup.buttons
