"""`ime`, and the two keyboards that type the text of a broadcast: ADBKeyBoard, and the one of uiautomator2."""

from __future__ import annotations

import base64
import binascii

from distrl.phone_server import keys
from distrl.phone_server.commands.base import Call, Command
from distrl.phone_server.packages import ADB_KEYBOARD, FAST_KEYBOARD, KEYBOARDS, USUAL_KEYBOARD
from distrl.phone_server.phone import ServedPhone

OK, CANCELLED = -1, 0


async def ime(phone: ServedPhone, call: Call) -> int:
    name, args = (call.args[0], call.args[1:]) if call.args else ("", [])
    if name == "list":
        for keyboard in KEYBOARDS:
            call.say(keyboard if "-s" in args else f"{keyboard}:\n  mId={keyboard}")
        return 0
    if name == "reset":
        phone.keyboard = USUAL_KEYBOARD
        return 0
    if name not in ("enable", "set", "disable") or not args:
        return call.fail("Usage: ime list [-a] [-s] | enable ID | disable ID | set ID | reset")
    keyboard = args[-1]
    if keyboard not in KEYBOARDS:
        return call.fail(f"Unknown input method {keyboard} cannot be selected for user #0")
    if name == "set":
        phone.keyboard = keyboard
        call.say(f"Input method {keyboard} selected for user #0")
    elif name == "disable" and phone.keyboard == keyboard:
        phone.keyboard = USUAL_KEYBOARD
    return 0


async def answer(phone: ServedPhone, action: str, extras: dict[str, str]) -> tuple[int, str]:
    """Result and data of a broadcast. Only the keyboard in use receives it."""
    if phone.keyboard == ADB_KEYBOARD and action in ADB_ACTIONS:
        return await _adb_keyboard(phone, action, extras)
    if phone.keyboard == FAST_KEYBOARD and action.startswith("ADB_KEYBOARD_"):
        return await _fast_keyboard(phone, action, extras)
    return CANCELLED, ""


ADB_ACTIONS = (
    "ADB_INPUT_B64", "ADB_INPUT_TEXT", "ADB_INPUT_CHARS", "ADB_INPUT_CODE", "ADB_EDITOR_CODE", "ADB_CLEAR_TEXT"
)  # fmt: skip


async def _adb_keyboard(phone: ServedPhone, action: str, extras: dict[str, str]) -> tuple[int, str]:
    """The result is always 0, as with the real one, whether the text was typed or not."""
    if action == "ADB_INPUT_B64":
        await phone.type(_text(extras.get("msg", "")) or "")
    elif action == "ADB_INPUT_TEXT":
        await phone.type(_whole(extras.get("msg", "")))
    elif action == "ADB_INPUT_CHARS":
        await phone.type(_characters(extras.get("chars", "")))
    elif action == "ADB_INPUT_CODE":
        await phone.press(keys.code_of(extras.get("code", "")) or 0)
    elif action == "ADB_EDITOR_CODE":
        await phone.press(keys.CODES["ENTER"])
    else:
        phone.clear_field()
    return CANCELLED, ""


async def _fast_keyboard(phone: ServedPhone, action: str, extras: dict[str, str]) -> tuple[int, str]:
    name = action.removeprefix("ADB_KEYBOARD_")
    if name in ("INPUT_TEXT", "SET_TEXT"):
        text = _text(extras.get("text", ""))
        if text is None:
            return CANCELLED, "bad base-64"
        if name == "SET_TEXT":
            phone.clear_field()
        await phone.type(text)
    elif name == "CLEAR_TEXT":
        phone.clear_field()
    elif name in ("SMART_ENTER", "EDITOR_CODE"):
        await phone.press(keys.CODES["ENTER"])
    elif name != "HIDE":  # the simulated keyboard is hidden with its field
        return CANCELLED, "unknown"
    return OK, "success"


def _text(encoded: str) -> str | None:
    """None unless it is valid UTF-8 in base64: nothing is typed then."""
    try:
        return base64.b64decode(encoded, validate=True).decode()
    except (binascii.Error, ValueError):
        return None


def _characters(codes: str) -> str:
    """`128568,32` as text; nothing where one of them is no character."""
    try:
        return _whole("".join(chr(int(code)) for code in codes.split(",")))
    except (OverflowError, ValueError):
        return ""


def _whole(text: str) -> str:
    """The text; empty if it has an unpaired surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return ""
    return text


COMMANDS: dict[str, Command] = {"ime": ime}
