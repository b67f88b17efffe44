"""The back stack: the home screen at its bottom, pages above it, the last one in front."""

from __future__ import annotations

from distrl.devices.sim.apps.base import new_frame
from distrl.types import Tree

REMEMBERED = 8
"""Apps that the list of recent ones holds."""


def go_home(system: Tree) -> None:
    system["dialog"] = system["popup"] = None
    system["stack"] = [new_frame("launcher", "home")]


def go_back(system: Tree) -> None:
    """Close what is on top: a pop-up, else a dialog, else the keyboard, else the page."""
    if system["popup"] is not None:
        system["popup"] = None
    elif system["dialog"] is not None:
        close_dialog(system)
    elif system["stack"][-1]["focus"]:
        system["stack"][-1]["focus"] = ""
    elif len(system["stack"]) > 1:
        system["stack"].pop()


def close_dialog(system: Tree) -> None:
    system["dialog"] = None
    system["stack"][-1]["focus"] = ""


def show_recents(system: Tree) -> None:
    if system["popup"] is None and system["stack"][-1]["app"] != "os":
        close_dialog(system)
        system["stack"].append(new_frame("os", "recents"))


def tidy(system: Tree) -> None:
    """Keep the home screen at the bottom, and no other page of the launcher or the system under an app."""
    stack = system["stack"]
    if not stack or stack[0]["app"] != "launcher":
        stack.insert(0, new_frame("launcher", "home"))
    front = stack[-1]["app"]
    if front == "launcher":
        return
    stack[1:] = [frame for frame in stack[1:] if frame["app"] != "launcher"]
    if front != "os":
        system["used"] = [front, *(name for name in system["used"] if name != front)][:REMEMBERED]
