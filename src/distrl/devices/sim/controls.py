"""Widgets → scene: tabs, chips, sliders, steppers and picker wheels."""

from __future__ import annotations

from distrl.devices.sim import lettering
from distrl.devices.sim.layout import LABEL, MARGIN, SUBTITLE, TITLE, Column, lays
from distrl.devices.sim.lettering import Face
from distrl.devices.sim.scene import Scene
from distrl.devices.sim.theme import Colour
from distrl.devices.sim.ui import Chips, Event, Slider, Stepper, Tabs, Wheel

TAB = Face("Medium", 11)
TAB_HEIGHT = 30
WHEEL_LINE = 28
CHOSEN = Face("Bold", 16)


@lays(Tabs)
def _tabs(column: Column, widget: Tabs) -> None:
    palette = column.look.palette
    place_tabs(column.scene, widget, column.left, column.right, column.y, palette.accent, palette.secondary)
    column.y += TAB_HEIGHT


def place_tabs(scene: Scene, widget: Tabs, left: int, right: int, top: int, chosen: Colour, other: Colour) -> None:
    """A strip of equal tabs with a line under the chosen one."""
    count = len(widget.names)
    for index, name in enumerate(widget.names):
        start, end = left + (right - left) * index // count, left + (right - left) * (index + 1) // count
        on = name == widget.selected
        label = lettering.shorten(name, TAB, end - start - 2)
        colour = chosen if on else other
        scene.text((start + end) // 2, top + (TAB_HEIGHT - TAB.line) // 2 - 1, label, TAB, colour, "centre")
        if on:
            half = min((end - start) // 2 - 2, lettering.width(label, TAB) // 2 + 3)
            middle = (start + end) // 2
            scene.rounded((middle - half, top + TAB_HEIGHT - 4, middle + half, top + TAB_HEIGHT - 1), 1, chosen)
        scene.element((start, top, end, top + TAB_HEIGHT), name, "tab", (widget.event, name), checked=on)


@lays(Chips)
def _chips(column: Column, widget: Chips) -> None:
    palette = column.look.palette
    x, y = column.left + MARGIN, column.y + 4
    for name in widget.names:
        on = name in widget.selected
        label = lettering.shorten(name, TAB, column.width - 2 * MARGIN - 20)
        width = lettering.width(label, TAB) + 20
        if x + width > column.right - MARGIN and x > column.left + MARGIN:
            x, y = column.left + MARGIN, y + 32
        box = (x, y, x + width, y + 26)
        column.scene.rounded(box, 13, palette.accent if on else palette.field)
        colour = palette.on_accent if on else palette.text
        column.scene.text(x + 10, y + 13 - TAB.line // 2, label, TAB, colour)
        column.scene.element(box, name, "chip", (widget.event, name), checked=on)
        x += width + 6
    column.y = y + 32


@lays(Slider)
def _slider(column: Column, widget: Slider) -> None:
    scene, palette = column.scene, column.look.palette
    left, right, top = column.left + MARGIN, column.right - MARGIN, column.y + 5
    scene.text(left, top, lettering.shorten(widget.title, TITLE, right - left - 42), TITLE, palette.text)
    value = f"{widget.value}%"
    scene.text(right, top + 1, value, SUBTITLE, palette.accent, "right")
    start, end, middle = left + 8, right - 8, top + 29
    at = start + (end - start) * max(0, min(100, widget.value)) // 100
    scene.rounded((start - 4, middle - 3, end + 4, middle + 3), 3, palette.outline)
    scene.rounded((start - 4, middle - 3, at + 1, middle + 3), 3, palette.accent)
    scene.rounded((at - 8, middle - 8, at + 8, middle + 8), 8, palette.accent)
    scene.element((start, middle - 12, end, middle + 12), widget.title, "slider", slide=widget.event)
    scene.element((right - 40, top, right, top + TITLE.line), value, "text")
    column.y = middle + 16


@lays(Stepper)
def _stepper(column: Column, widget: Stepper) -> None:
    scene, palette = column.scene, column.look.palette
    middle, right = column.y + 20, column.right - MARGIN
    value_width = max(34, lettering.width(widget.value, LABEL) + 8)
    room = column.width - 2 * MARGIN - value_width - 64
    title = lettering.shorten(widget.title, TITLE, room)
    scene.text(column.left + MARGIN, middle - TITLE.line // 2, title, TITLE, palette.text)
    scene.element(
        (column.left + MARGIN, middle - 10, column.left + MARGIN + room, middle + 10), widget.title, "stepper"
    )
    plus, minus = right - 14, right - 42 - value_width
    _round_button(column, minus, middle, "minus", f"Decrease {widget.title}", widget.minus)
    centre = (plus + minus) // 2
    scene.text(centre, middle - LABEL.line // 2, widget.value, LABEL, palette.text, "centre")
    scene.element((minus + 15, middle - 10, plus - 15, middle + 10), widget.value, "text")
    _round_button(column, plus, middle, "add", f"Increase {widget.title}", widget.plus)
    column.y += 40


def _round_button(column: Column, x: int, y: int, glyph: str, label: str, tap: Event) -> None:
    palette = column.look.palette
    column.scene.rounded((x - 14, y - 14, x + 14, y + 14), 14, palette.tint)
    column.scene.glyph(x, y, 16, glyph, palette.accent)
    column.scene.say(label.split()[0], x, y)
    column.scene.element((x - 14, y - 14, x + 14, y + 14), label, "button", tap)


@lays(Wheel)
def _wheel(column: Column, widget: Wheel) -> None:
    scene, palette = column.scene, column.look.palette
    left, top, count = column.left + MARGIN, column.y + 4, len(widget.columns)
    room = column.width - 2 * MARGIN
    band = (left, top + WHEEL_LINE, left + room, top + 2 * WHEEL_LINE)
    scene.rounded(band, 8, palette.tint)
    for index, (options, selected) in enumerate(zip(widget.columns, widget.selected, strict=True)):
        start, end = left + room * index // count, left + room * (index + 1) // count
        at = options.index(selected) if selected in options else 0
        for place in (-1, 0, 1):
            value = options[(at + place) % len(options)]
            y = top + (place + 1) * WHEEL_LINE
            face = LABEL if place else CHOSEN
            colour = palette.secondary if place else palette.text
            text = lettering.shorten(value, face, end - start - 4)
            scene.text((start + end) // 2, y + (WHEEL_LINE - face.line) // 2, text, face, colour, "centre")
            tap = (widget.event, index, value) if place else None
            spin = (widget.event, index, options, at)
            checked = None if place else True
            scene.element((start, y, end, y + WHEEL_LINE), value, "wheel", tap, checked=checked, spin=spin)
    column.y = top + 3 * WHEEL_LINE + 4
