"""App in front and rotation, from `dumpsys window`; display size from `wm size`."""

from __future__ import annotations

import re
from dataclasses import dataclass

LOOK = "dumpsys window | grep -E 'mCurrentFocus|mFocusedApp|mCurrentRotation|mRotation='"
APP = re.compile(r"mFocusedApp=.*?\su\d+\s([\w.]+)/([\w.$]+)")
WINDOW = re.compile(r"mCurrentFocus=Window\{\S+ u\d+ ([^}]+)\}")
ROTATION = re.compile(r"(?:mCurrentRotation=(?:ROTATION_)?|mRotation=)(\d+)")
SIZE = re.compile(r"(Physical|Override) size: (\d+)x(\d+)")


@dataclass(frozen=True, slots=True)
class Front:
    """The app in front, the focused window (which may be a system dialog over the app), and the rotation."""

    package: str = ""
    activity: str = ""
    window: str = ""
    sideways: bool | None = None
    """None where the phone does not report it."""

    @classmethod
    def parse(cls, text: str) -> Front:
        app, window, rotation = APP.search(text), WINDOW.search(text), ROTATION.search(text)
        focus = window[1] if window else ""
        package, activity = (app[1], app[2]) if app else (focus.partition("/")[0], focus.partition("/")[2])
        sideways = int(rotation[1]) in (1, 3, 90, 270) if rotation else None
        return cls(package, activity, focus, sideways)

    @property
    def components(self) -> tuple[str, ...]:
        """`package/activity` of everything that a touch may reach."""
        return tuple(name for name in (f"{self.package}/{self.activity}".strip("/"), self.window) if name)


def parse_size(text: str) -> tuple[int, int] | None:
    """Width and height in portrait; an override precedes the physical size."""
    found = {match[1]: (int(match[2]), int(match[3])) for match in SIZE.finditer(text)}
    return found.get("Override") or found.get("Physical")


def fits(picture: tuple[int, int], upright: tuple[int, int] | None, sideways: bool | None) -> bool:
    """Whether an image has the size of the display in its rotation."""
    if upright is None:
        return True
    turned = upright[::-1]
    if sideways is None:
        return picture in (upright, turned)
    return picture == (turned if sideways else upright)
