"""The JSON-RPC methods of uiautomator2's server that its client needs for screens, gestures, keys and text."""

from __future__ import annotations

import base64
import re
from collections.abc import Awaitable, Callable
from typing import Any

from distrl.errors import DeviceError
from distrl.phone_server import keys
from distrl.phone_server.automator.selectors import describe, select
from distrl.phone_server.capture import capture, jpeg
from distrl.phone_server.hierarchy import Node, bounds_of, dump, nodes
from distrl.phone_server.packages import package_of
from distrl.phone_server.phone import ServedPhone, pause

STEP_S = 0.005
NOT_FOUND = -32001
UNKNOWN_METHOD = -32601
WRONG_PARAMS = -32602
NAMES = {"recent": "APP_SWITCH", "delete": "DEL", "del": "DEL", "center": "DPAD_CENTER"}


class Refusal(DeviceError):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


async def call_method(phone: ServedPhone, name: str, params: list[Any]) -> Any:
    """Raises `Refusal`."""
    if name not in METHODS:
        raise Refusal(UNKNOWN_METHOD, f"method not found: {name}")
    try:
        return await METHODS[name](phone, *params)
    except (TypeError, ValueError, LookupError, OverflowError, re.error) as error:
        raise Refusal(WRONG_PARAMS, f"{name}: {error}") from error


async def device_info(phone: ServedPhone) -> dict[str, Any]:
    width, height = phone.size
    return {
        "currentPackageName": package_of(phone.front), "displayWidth": width, "displayHeight": height,
        "displayRotation": 0, "displaySizeDpX": width, "displaySizeDpY": height, "productName": "distrl_phone",
        "screenOn": phone.power.awake, "sdkInt": 34, "naturalOrientation": True,
    }  # fmt: skip


async def take_screenshot(phone: ServedPhone, scale: float = 1, quality: int = 80) -> str | None:
    return base64.b64encode(await capture(phone, jpeg)).decode() or None


async def dump_hierarchy(phone: ServedPhone, *_: Any) -> str:
    faults = phone.fault_injector.draw("dump")
    await pause(faults.get("hang-dump", 0.0))
    return "" if "not-idle-dump" in faults else dump(phone)


# --- gestures, keys, text ------------------------------------------------------------------------


async def click(phone: ServedPhone, x: float, y: float, milliseconds: float = 0) -> bool:
    await phone.touch((float(x), float(y)), (float(x), float(y)), milliseconds / 1000)
    return True


async def swipe(phone: ServedPhone, x: float, y: float, to_x: float, to_y: float, steps: int = 0) -> bool:
    await phone.touch((float(x), float(y)), (float(to_x), float(to_y)), steps * STEP_S)
    return True


async def press_key(phone: ServedPhone, name: str) -> bool:
    code = keys.code_of(NAMES.get(name.lower(), name))
    await phone.press(code or 0)
    return code is not None


async def press_code(phone: ServedPhone, code: int, meta: int = 0) -> bool:
    await phone.press(int(code))
    return True


async def set_clipboard(phone: ServedPhone, label: str | None, text: str) -> None:
    phone.clipboard = text


async def get_clipboard(phone: ServedPhone) -> str:
    return phone.clipboard


async def paste(phone: ServedPhone) -> None:
    await phone.type(phone.clipboard)


async def clear_input(phone: ServedPhone) -> None:
    phone.clear_field()


async def wake_up(phone: ServedPhone) -> None:
    await phone.press(keys.WAKEUP)


async def go_to_sleep(phone: ServedPhone) -> None:
    await phone.press(keys.SLEEP)


# --- objects ------------------------------------------------------------------------------------


def _find(phone: ServedPhone, selector: dict[str, Any]) -> Node:
    found = select(nodes(phone), selector)
    if not found:
        raise Refusal(NOT_FOUND, f"androidx.test.uiautomator.UiObjectNotFoundException: {selector}")
    return found[0]


async def info(phone: ServedPhone, selector: dict[str, Any]) -> dict[str, Any]:
    return describe(_find(phone, selector))


async def all_infos(phone: ServedPhone, selector: dict[str, Any]) -> list[dict[str, Any]]:
    return [describe(node) for node in select(nodes(phone), selector)]


async def count(phone: ServedPhone, selector: dict[str, Any]) -> int:
    return len(select(nodes(phone), selector))


async def exists(phone: ServedPhone, selector: dict[str, Any], milliseconds: int = 0) -> bool:
    """Returns at once: this phone changes only by input, so waiting would not help."""
    return bool(select(nodes(phone), selector))


async def is_gone(phone: ServedPhone, selector: dict[str, Any], milliseconds: int = 0) -> bool:
    return not select(nodes(phone), selector)


async def get_text(phone: ServedPhone, selector: dict[str, Any]) -> str:
    return _find(phone, selector)["text"]


async def set_text(phone: ServedPhone, selector: dict[str, Any], text: str = "") -> bool:
    """Focus the field, empty it, type."""
    left, top, right, bottom = bounds_of(_find(phone, selector))
    await click(phone, (left + right) / 2, (top + bottom) / 2)
    phone.clear_field()
    await phone.type(text)
    return True


async def nothing(phone: ServedPhone, *_: Any) -> None:
    """The answer for toasts and rotation, which this phone does not have."""
    return


METHODS: dict[str, Callable[..., Awaitable[Any]]] = {
    "deviceInfo": device_info, "takeScreenshot": take_screenshot, "dumpWindowHierarchy": dump_hierarchy,
    "click": click, "swipe": swipe, "drag": swipe, "pressKey": press_key, "pressKeyCode": press_code,
    "setClipboard": set_clipboard, "getClipboard": get_clipboard, "pasteClipboard": paste,
    "clearInputText": clear_input, "wakeUp": wake_up, "sleep": go_to_sleep,
    "objInfo": info, "objInfoOfAllInstances": all_infos, "count": count, "exist": exists,
    "waitForExists": exists, "waitUntilGone": is_gone, "getText": get_text, "setText": set_text,
    "clearTextField": set_text, "getLastToast": nothing, "clearLastToast": nothing, "freezeRotation": nothing,
}  # fmt: skip
