"""Boxes that the system puts before an app: recognised by the window in front, answered through the UI tree.

Both the window and the ids of its buttons must be the system's; an app that forges both gains a tap on its own button.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.sight import Look, Sight

MOST = 3
"""Boxes in a row before the screen is shown as it is."""
WAITS = 2
"""How often in an episode an app that does not respond is waited for; then it is closed."""
WAIT, CLOSE = "aerr_wait", "aerr_close"
BACK = ["input", "keyevent", "4"]


@dataclass(frozen=True, slots=True)
class Box:
    """`buttons`: ends of resource ids, the one to press first. `back`: what to do where none is there."""

    kind: str
    window: re.Pattern[str]
    buttons: tuple[str, ...]
    back: bool = False


BOXES = (
    Box("anr", re.compile(r"^Application Not Responding"), (WAIT, CLOSE)),
    Box("crash", re.compile(r"^Application Error"), (CLOSE, "aerr_mute")),
    Box(
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
"""On a served phone the others are part of the world in which an agent learns."""

Press = Callable[[list[str]], Awaitable[None]]


def recognised(window: str) -> Box | None:
    return next((box for box in BOXES if box.window.search(window)), None)


class Watcher:
    """Answers for one phone, and counts."""

    def __init__(
        self, options: AdbOptions, sight: Sight, press: Press, dismissed: Counter[str], *, served: bool
    ) -> None:
        kinds = frozenset(box.kind for box in BOXES)
        usual = BROKEN if served else kinds
        self._kinds = {"auto": usual, "dismiss": kinds, "leave": frozenset[str]()}[options.popups]
        if options.dry:
            self._kinds = frozenset()
        self._sight = sight
        self._press = press
        self._waited = 0
        self._dismissed = dismissed

    def begin(self) -> None:
        """A new episode."""
        self._waited = 0

    async def clear(self, look: Look, again: Callable[[], Awaitable[Look]]) -> tuple[Look, tuple[str, ...]]:
        """What the phone shows without its boxes, and a flag for each kind that was there."""
        flags: list[str] = []
        for _ in range(MOST):
            box = recognised(look.front.window)
            if box is None or box.kind not in self._kinds or not await self._answer(box, look.size):
                break
            self._dismissed[box.kind] += 1
            flags.append(f"dismissed-{box.kind}")
            look = await again()
        return look, tuple(dict.fromkeys(flags))

    async def _answer(self, box: Box, size: tuple[int, int]) -> bool:
        places = await self._sight.places(size)
        for button in self._preferred(box):
            if button in places:
                left, top, right, bottom = places[button]
                await self._press(["input", "tap", str((left + right) // 2), str((top + bottom) // 2)])
                self._waited += button == WAIT
                return True
        if box.back:
            await self._press(BACK)
        return box.back

    def _preferred(self, box: Box) -> tuple[str, ...]:
        return box.buttons[::-1] if box.kind == "anr" and self._waited >= WAITS else box.buttons
