"""`input`: gestures, keys and text. The duration of a gesture selects its kind; nothing waits for it."""

from __future__ import annotations

from distrl.phone_server import keys
from distrl.phone_server.commands.base import Call, Command
from distrl.phone_server.phone import ServedPhone

SOURCES = ("touchscreen", "keyboard", "mouse", "dpad", "touchpad", "gamepad", "touchnavigation", "joystick", "stylus")
DRAG_MS = "1000"
SWIPE_MS = "300"
CRASHED = 255


async def run(phone: ServedPhone, call: Call) -> int:
    args = _without_source(call.args)
    name, given = (args[0], args[1:]) if args else ("", [])
    if name == "text" and given:
        return await _text(phone, call, " ".join(given))
    if name == "keyevent" and given:
        return await _keys(phone, call, given)
    try:
        if name in ("tap", "press") and len(given) >= 2:
            x, y = float(given[0]), float(given[1])
            await phone.touch((x, y), (x, y), 0.0)
            return 0
        if name in ("swipe", "draganddrop") and len(given) in (4, 5):
            x1, y1, x2, y2, ms = (float(text) for text in (*given, SWIPE_MS if name == "swipe" else DRAG_MS)[:5])
            await phone.touch((x1, y1), (x2, y2), ms / 1000)
            return 0
    except (OverflowError, ValueError):
        return call.fail(f"Error: Invalid arguments for command: {name}", CRASHED)
    return call.fail(
        f"Error: Unknown command: {name}" if name else "Usage: input [<source>] <command> [<arg>...]", CRASHED
    )


def _without_source(args: list[str]) -> list[str]:
    """`input [source] [-d display] command`."""
    rest = args[1:] if args[:1] and args[0] in SOURCES else args
    return rest[2:] if rest[:1] == ["-d"] else rest


async def _text(phone: ServedPhone, call: Call, text: str) -> int:
    """ASCII only, as on a real phone: `%s` is a space, a line break is the enter key. All of it or nothing."""
    if not all(" " <= character <= "~" or character == "\n" for character in text):
        call.write_error("Exception occurred while executing 'text':")
        return call.fail("java.lang.NullPointerException: Attempt to get length of null array", CRASHED)
    first, *rest = text.replace("%s", " ").split("\n")
    await phone.type(first)
    for line in rest:
        await phone.press(keys.CODES["ENTER"])
        await phone.type(line)
    return 0


async def _keys(phone: ServedPhone, call: Call, names: list[str]) -> int:
    for name in names:
        if name in ("--longpress", "--doubletap", "--async"):
            continue
        code = keys.code_of(name)
        if code is None:
            return call.fail(f"Error: Unknown keycode: {name}", CRASHED)
        await phone.press(code)
    return 0


COMMANDS: dict[str, Command] = {"input": run}
