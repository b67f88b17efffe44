"""The elements of a screen as an Android UI tree, for `uiautomator dump` and selectors.

Keeps everything an element holds: its role is the resource id, its text is `text` or, for icons, `content-desc`.
"""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

from distrl.phone_server.packages import SYSTEM_UI, package_of
from distrl.phone_server.phone import ServedPhone
from distrl.types import Element

Node = dict[str, str]

CLASSES = {
    "button": "Button", "icon": "ImageButton", "field": "EditText", "text": "TextView", "toggle": "Switch",
    "checkbox": "CheckBox", "slider": "SeekBar", "wheel": "NumberPicker", "key": "Button",
}  # fmt: skip
DESCRIBED = ("icon",)
"""Roles whose text is an accessibility label and not drawn."""
SYSTEM_LABELS = ("System back", "Home", "Recents")
POPUP_IDS = {
    "Close app": "android:id/aerr_close",
    "Wait": "android:id/aerr_wait",
    "Allow": "com.android.permissioncontroller:id/permission_allow_button",
    "Deny": "com.android.permissioncontroller:id/permission_deny_button",
}
NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def dump(phone: ServedPhone) -> str:
    """The tree as XML, in one line, as uiautomator has it. Characters that XML cannot hold become dots."""
    root, *rest = nodes(phone)
    children = "".join(f"<node {_attributes(node)} />" for node in rest)
    return (
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
        f'<hierarchy rotation="0"><node {_attributes(root)}>{children}</node></hierarchy>'
    )


def nodes(phone: ServedPhone) -> list[Node]:
    """The window, then its elements in drawing order."""
    rendering = phone.render()
    width, height = rendering.image.size
    package = package_of(phone.front)
    popup = phone.popup
    window = _node(0, Element("", "window", (0, 0, width, height)), package) | {"class": "android.widget.FrameLayout"}
    found = [window]
    for index, element in enumerate(rendering.elements):
        node = _node(index, element, package)
        if element.role == "icon" and element.text in SYSTEM_LABELS and element.bounds[3] == height:
            node["package"] = SYSTEM_UI
        elif element.role == "key":
            node["package"] = phone.keyboard.partition("/")[0]
        elif popup is not None and popup["kind"] in ("anr", "permission"):
            node["resource-id"] = POPUP_IDS.get(element.text, node["resource-id"])
            node["package"] = node["resource-id"].partition(":")[0]
        found.append(node)
    return found


def bounds_of(node: Node) -> tuple[int, int, int, int]:
    left, top, right, bottom = (int(number) for number in re.findall(r"-?\d+", node["bounds"]))
    return left, top, right, bottom


def _node(index: int, element: Element, package: str) -> Node:
    described = element.role in DESCRIBED
    left, top, right, bottom = element.bounds
    return {
        "index": str(index),
        "text": "" if described else element.text,
        "resource-id": f"{package}:id/{element.role}",
        "class": f"android.widget.{CLASSES.get(element.role, 'LinearLayout')}",
        "package": package,
        "content-desc": element.text if described else "",
        "checkable": _truth(element.checked is not None),
        "checked": _truth(bool(element.checked)),
        "clickable": _truth(element.clickable),
        "enabled": "true",
        "focusable": _truth(element.clickable),
        "focused": _truth(element.focused),
        "scrollable": "false",
        "long-clickable": "false",
        "password": "false",
        "selected": _truth(element.role == "tab" and bool(element.checked)),
        "bounds": f"[{left},{top}][{right},{bottom}]",
    }


def _truth(value: bool) -> str:
    return "true" if value else "false"


def _attributes(node: Node) -> str:
    whites = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    return " ".join(f"{name}={quoteattr(NOT_IN_XML.sub('.', value), whites)}" for name, value in node.items())
