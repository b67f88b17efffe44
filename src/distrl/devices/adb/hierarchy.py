"""Elements from `uiautomator dump`."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from distrl.types import Element

FILE = "/data/local/tmp/distrl-window.xml"
DUMP = f"rm -f {FILE}; uiautomator dump {FILE} >/dev/null; cat {FILE}"
"""The old file is removed first, because a failed dump leaves it in place."""
BOUNDS = re.compile(r"\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]")
SERVED_ID = re.compile(r"org\.distrl\.\w+:id/(\w+)")
WINDOW = "window"
ROLES = {
    "Button": "button", "ImageButton": "icon", "ImageView": "icon", "EditText": "field", "TextView": "text",
    "Switch": "toggle", "ToggleButton": "toggle", "CheckBox": "checkbox", "RadioButton": "checkbox",
    "SeekBar": "slider", "NumberPicker": "wheel", "AutoCompleteTextView": "field", "CheckedTextView": "checkbox",
}  # fmt: skip


class NoTree(Exception):  # noqa: N818 - the screen then has no elements, and a flag
    """`uiautomator dump` gave no readable tree."""


def parse(text: str, size: tuple[int, int]) -> tuple[Element, ...]:
    """What can be seen or touched, in the order of the tree, cut to the screen."""
    found = (_element(node, size) for node in _nodes(text))
    return tuple(element for element in found if element is not None)


def bounds_by_id(text: str, size: tuple[int, int]) -> dict[str, tuple[int, int, int, int]]:
    """End of a resource id → bounds; the first where several share one."""
    found: dict[str, tuple[int, int, int, int]] = {}
    for node in _nodes(text):
        name, bounds = node.get("resource-id", "").rpartition(":id/")[2], _bounds(node.get("bounds", ""), size)
        if name and bounds is not None:
            found.setdefault(name, bounds)
    return found


def _nodes(text: str) -> list[dict[str, str]]:
    start = text.find("<?xml")
    if start < 0 or "<!DOCTYPE" in text:
        raise NoTree(text.strip()[:200])
    try:
        root = ElementTree.fromstring(text[start : text.rfind(">") + 1])
    except ElementTree.ParseError as error:
        raise NoTree(str(error)) from error
    return [node.attrib for node in root.iter("node")]


def _element(node: dict[str, str], size: tuple[int, int]) -> Element | None:
    bounds = _bounds(node.get("bounds", ""), size)
    text = node.get("text") or node.get("content-desc") or ""
    served = SERVED_ID.fullmatch(node.get("resource-id", ""))
    role = served[1] if served else ROLES.get(node.get("class", "").rpartition(".")[2], "row")
    clickable, checkable = node.get("clickable") == "true", node.get("checkable") == "true"
    tells = bool(text) or clickable or checkable or role == "field" or served is not None
    if bounds is None or not tells or role == WINDOW:
        return None
    return Element(
        text=text,
        role=role,
        bounds=bounds,
        checked=node.get("checked") == "true" if checkable else None,
        focused=node.get("focused") == "true",
        clickable=clickable,
    )


def _bounds(text: str, size: tuple[int, int]) -> tuple[int, int, int, int] | None:
    match = BOUNDS.fullmatch(text)
    if match is None:
        return None
    left, top, right, bottom = (int(number) for number in match.groups())
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, size[0]), min(bottom, size[1])
    return (left, top, right, bottom) if left < right and top < bottom else None
