"""Android's key codes, and the action of the simulated phone for each."""

from __future__ import annotations

from distrl.types import Action, Press

CODES = {
    "HOME": 3, "BACK": 4, "CALL": 5, "ENDCALL": 6, "DPAD_UP": 19, "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22,
    "DPAD_CENTER": 23, "VOLUME_UP": 24, "VOLUME_DOWN": 25, "POWER": 26, "CAMERA": 27, "TAB": 61, "SPACE": 62,
    "ENTER": 66, "DEL": 67, "MENU": 82, "SEARCH": 84, "ESCAPE": 111, "FORWARD_DEL": 112, "MOVE_HOME": 122,
    "MOVE_END": 123, "NUMPAD_ENTER": 160, "VOLUME_MUTE": 164, "APP_SWITCH": 187, "SLEEP": 223, "WAKEUP": 224,
}  # fmt: skip
ACTIONS: dict[int, Action] = {
    3: Press("home"), 4: Press("back"), 66: Press("enter"), 111: Press("back"), 160: Press("enter")
}  # fmt: skip
ON_SCREEN = {62: "Space", 67: "Backspace", 187: "Recents"}
"""Keys that the simulated phone only has on its screen: they are tapped there while visible."""
POWER, SLEEP, WAKEUP = 26, 223, 224
LARGEST = 320


def code_of(name: str) -> int | None:
    """The code for `4`, `BACK` or `KEYCODE_BACK`; None for an unknown name."""
    if name.isascii() and name.isdigit():
        return int(name) if int(name) <= LARGEST else None
    return CODES.get(name.upper().removeprefix("KEYCODE_"))
