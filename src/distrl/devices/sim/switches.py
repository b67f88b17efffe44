"""Widgets → scene: toggles and check boxes."""

from __future__ import annotations

from distrl.devices.sim.layout import MARGIN, Column, RowLabel, lays
from distrl.devices.sim.ui import Check, Toggle


@lays(Toggle)
def _toggle(column: Column, widget: Toggle) -> None:
    label = RowLabel(widget.title, widget.subtitle, column.width - 2 * MARGIN - 40)
    box = (column.left, column.y, column.right, column.y + label.height)
    column.scene.element(box, widget.title, "toggle", widget.tap, checked=widget.on)
    label.place(column, column.left + MARGIN)
    _switch(column, widget.on, column.right - MARGIN - 32, column.y + label.height // 2)
    column.y += label.height


def _switch(column: Column, on: bool, x: int, middle: int) -> None:
    scene, palette = column.scene, column.look.palette
    track = (x, middle - 9, x + 32, middle + 9)
    if on:
        scene.rounded(track, 9, palette.accent)
        scene.rounded((x + 16, middle - 7, x + 30, middle + 7), 7, palette.on_accent)
    else:
        scene.rounded(track, 9, palette.field)
        scene.ring(track, 9, 2, palette.secondary)
        scene.rounded((x + 5, middle - 5, x + 15, middle + 5), 5, palette.secondary)
    scene.say("on" if on else "off", x + 16, middle)


@lays(Check)
def _check(column: Column, widget: Check) -> None:
    label = RowLabel(widget.title, "", column.width - 2 * MARGIN - 28)
    box = (column.left, column.y, column.right, column.y + label.height)
    column.scene.element(box, widget.title, "checkbox", widget.tap, checked=widget.on)
    _mark(column, widget, column.left + MARGIN, column.y + label.height // 2)
    label.place(column, column.left + MARGIN + 28)
    column.y += label.height


def _mark(column: Column, widget: Check, x: int, middle: int) -> None:
    scene, palette = column.scene, column.look.palette
    radius = 9 if widget.radio else 4
    box = (x, middle - 9, x + 18, middle + 9)
    if widget.on and not widget.radio:
        scene.rounded(box, radius, palette.accent)
        scene.glyph(x + 9, middle, 16, "check", palette.on_accent)
    else:
        scene.ring(box, radius, 2, palette.accent if widget.on else palette.secondary)
    if widget.on and widget.radio:
        scene.rounded((x + 4, middle - 5, x + 14, middle + 5), 5, palette.accent)
    scene.say("on" if widget.on else "off", x + 9, middle)
