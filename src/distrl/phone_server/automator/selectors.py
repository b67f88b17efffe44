"""Matches selectors of uiautomator2 against the nodes of the screen."""

from __future__ import annotations

import re
from typing import Any

from distrl.phone_server.hierarchy import Node, bounds_of

TEXTS = {"text": "text", "description": "content-desc", "className": "class", "resourceId": "resource-id"}
FLAGS = {
    "checkable": "checkable", "checked": "checked", "clickable": "clickable", "longClickable": "long-clickable",
    "scrollable": "scrollable", "enabled": "enabled", "focusable": "focusable", "focused": "focused",
    "selected": "selected",
}  # fmt: skip


def select(nodes: list[Node], selector: dict[str, Any]) -> list[Node]:
    """All matches in order; with `instance`, only that one."""
    found = [node for node in nodes if all(_fits(node, name, wanted) for name, wanted in selector.items())]
    if "instance" in selector:
        return found[selector["instance"] : selector["instance"] + 1]
    return found


def _fits(node: Node, name: str, wanted: Any) -> bool:
    if name in FLAGS:
        return node[FLAGS[name]] == ("true" if wanted else "false")
    if name == "index":
        return node["index"] == str(wanted)
    if name == "packageName":
        return node["package"] == str(wanted)
    for stem, attribute in TEXTS.items():
        if name == stem:
            return node[attribute] == str(wanted)
        if name == f"{stem}Contains":
            return str(wanted) in node[attribute]
        if name == f"{stem}StartsWith":
            return node[attribute].startswith(str(wanted))
        if name == f"{stem}Matches":
            return re.fullmatch(str(wanted), node[attribute], re.DOTALL) is not None
    return name in ("mask", "childOrSibling", "childOrSiblingSelector", "instance")


def describe(node: Node) -> dict[str, Any]:
    """The fields of `UiObject.info`."""
    left, top, right, bottom = bounds_of(node)
    box = {"left": left, "top": top, "right": right, "bottom": bottom}
    flags = {name: node[attribute] == "true" for name, attribute in FLAGS.items()}
    return {
        "text": node["text"], "contentDescription": node["content-desc"], "className": node["class"],
        "resourceName": node["resource-id"], "packageName": node["package"], "bounds": box, "visibleBounds": box,
        "childCount": 0, **flags,
    }  # fmt: skip
