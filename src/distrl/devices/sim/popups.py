"""Random pop-ups, and the dialog box that they share with the apps' own dialogs."""

from __future__ import annotations

import random

from distrl.devices.sim import lettering
from distrl.devices.sim.bars import STATUS_HEIGHT
from distrl.devices.sim.layout import LABEL, Column, measured
from distrl.devices.sim.lettering import Face
from distrl.devices.sim.scene import HEIGHT, WIDTH, Look, Scene, Target
from distrl.devices.sim.theme import SCRIM
from distrl.devices.sim.ui import Button, Dialog, Text, Widget
from distrl.types import Tree

LEFT, RIGHT = 12, WIDTH - 12
HEADLINE = Face("Bold", 14)
BUTTON_HEIGHT = 32
KINDS = ("permission", "rating", "battery")
"""Kinds that appear at random. `anr`, an app that hangs, appears only by fault injection."""


def chance(system: Tree, shown_apps: list[str]) -> Tree | None:
    """The pop-up that appears after this action, or None. Depends on the state tree only."""
    system["ticks"] += 1
    rng = random.Random(f"{system['seed']}/popup/{system['ticks']}")
    if system["popup"] is not None or rng.random() >= system["popup_probability"]:
        return None
    front = system["stack"][-1]["app"]
    app = front if front in shown_apps else rng.choice(shown_apps)
    return {"kind": rng.choice(KINDS), "app": app}


def describe(popup: Tree, app_title: str) -> Dialog:
    close, accept = ("@popup", False), ("@popup", True)
    if popup["kind"] == "permission":
        text = f"{app_title} wants to send you notifications."
        return Dialog("Allow notifications?", text, (), (Button("Deny", close), Button("Allow", accept)))
    if popup["kind"] == "rating":
        text = f"Do you like {app_title}? Give it some stars."
        return Dialog("Rate this app", text, (), (Button("Not now", close), Button("Rate", accept)))
    if popup["kind"] == "anr":
        text = "You can wait for it, or close it."
        return Dialog(f"{app_title} isn't responding", text, (), (Button("Close app", close), Button("Wait", close)))
    return Dialog("Battery low", "Connect the charger soon.", (), (Button("OK", close),))


def answer(state: Tree, accepted: bool) -> None:
    """Close the pop-up. Accepting it is recorded in the state, for judges."""
    popup = state["os"]["popup"]
    state["os"]["popup"] = None
    if accepted:
        marks = state["permissions"]["notifications" if popup["kind"] == "permission" else "rated"]
        if popup["app"] not in marks:
            marks.append(popup["app"])


def place_box(scene: Scene, look: Look, dialog: Dialog, role: str, bottom: int, scroll: int) -> int:
    """Draw a dialog in the middle of what is free above `bottom`; returns how far its body can scroll."""
    text = (Text(dialog.text),) if dialog.text else ()
    titles = lettering.wrap(dialog.title, HEADLINE, RIGHT - LEFT - 28, 2)
    head = 14 + len(titles) * HEADLINE.line if dialog.title else 8
    rows = _button_lines(dialog.buttons)
    foot = len(rows) * BUTTON_HEIGHT + 8
    most = bottom - STATUS_HEIGHT - 12 - head - foot
    content = measured(look, (*text, *dialog.body), LEFT + 2, RIGHT - 2).height
    body = min(content, most)
    top = STATUS_HEIGHT + (bottom - STATUS_HEIGHT - head - body - foot) // 2
    box = (LEFT, top, RIGHT, top + head + body + foot)
    scene.ops.append(("dim", SCRIM))
    scene.new_layer()
    if role == "dialog":
        scene.targets.append(Target((0, 0, WIDTH, HEIGHT), ("@close",)))
    scene.rounded(box, 14, look.palette.surface)
    scene.shield(box, dialog.title, role)
    for index, line in enumerate(titles):
        scene.text(LEFT + 14, top + 12 + index * HEADLINE.line, line, HEADLINE, look.palette.text)
    scroll = max(0, min(scroll, content - body))
    _place_body(scene, look, (*text, *dialog.body), top + head, body, scroll)
    for index, row in enumerate(rows):
        _place_buttons(scene, look, row, top + head + body + 4 + index * BUTTON_HEIGHT, role)
    return content - body


def _place_body(scene: Scene, look: Look, widgets: tuple[Widget, ...], top: int, height: int, scroll: int) -> None:
    scene.clip = (LEFT, top, RIGHT, top + height)
    scene.ops.append(("clip", scene.clip))
    Column(scene, look, LEFT + 2, RIGHT - 2, top - scroll).place(widgets)
    scene.ops.append(("unclip",))
    scene.clip = (0, 0, WIDTH, HEIGHT)


def _width(button: Button) -> int:
    return lettering.width(button.label, LABEL) + 22


def _button_lines(buttons: tuple[Button, ...]) -> list[tuple[Button, ...]]:
    """All side by side if they fit, else one under the other."""
    if sum(_width(button) for button in buttons) <= RIGHT - LEFT - 12:
        return [buttons] if buttons else []
    return [(button,) for button in buttons]


def _place_buttons(scene: Scene, look: Look, buttons: tuple[Button, ...], top: int, role: str) -> None:
    palette, x = look.palette, RIGHT - 8
    for button in reversed(buttons):
        width = _width(button)
        box = (x - width, top, x, top + 28)
        if button.filled and button is buttons[-1]:
            scene.rounded(box, 14, palette.tint)
        middle = (box[0] + box[2]) // 2
        scene.text(middle, top + 14 - LABEL.line // 2, button.label, LABEL, palette.accent, "centre")
        event = button.tap if role == "popup" else ("@button", button.tap)
        scene.element(box, button.label, "button", event)
        x -= width + 4
