"""Widgets → scene: a column of widgets from top to bottom. Lines of text, rows, fields and buttons are here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from distrl.devices.sim import lettering
from distrl.devices.sim.lettering import Face
from distrl.devices.sim.scene import Look, Scene
from distrl.devices.sim.theme import Colour, mix, readable_on, rgb
from distrl.devices.sim.ui import (
    Bubble,
    Button,
    ButtonRow,
    Divider,
    Event,
    Field,
    Row,
    Spacer,
    Text,
    Widget,
)

TITLE = Face("Medium", 13)
SUBTITLE = Face("Regular", 11)
LABEL = Face("Medium", 12)
FIELD = Face("Regular", 12)
STYLES = {
    "title": Face("Bold", 17),
    "heading": Face("Bold", 12),
    "body": Face("Regular", 12),
    "caption": Face("Regular", 11),
    "price": Face("Bold", 16),
    "link": Face("Medium", 12),
}
MARGIN = 12
FIELD_HEIGHT = 32


class Column:
    """Places widgets one under the other and remembers how tall they are."""

    def __init__(self, scene: Scene, look: Look, left: int, right: int, top: int) -> None:
        self.scene = scene
        self.look = look
        self.left = left
        self.right = right
        self.top = top
        self.y = top
        self.slack = 0
        """Height of a spacer."""
        self.spots: dict[str, tuple[int, int]] = {}
        """Top and bottom of each field, from the column's top."""

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.y - self.top

    def place(self, widgets: Iterable[Widget]) -> None:
        for widget in widgets:
            LAYERS[type(widget)](self, widget)


def measured(look: Look, widgets: Iterable[Widget], left: int, right: int) -> Column:
    """A column that was laid out but drew nothing: for its height and where its fields are."""
    blind = Scene()
    blind.clip = (0, -2, 0, -1)
    column = Column(blind, look, left, right, 0)
    column.place(widgets)
    return column


Layer = Callable[[Column, Any], None]
LAYERS: dict[type, Layer] = {}
"""Widget type → the function that lays it out."""


def lays(kind: type) -> Callable[[Layer], Layer]:
    def register(layer: Layer) -> Layer:
        LAYERS[kind] = layer
        return layer

    return register


@lays(Text)
def _text(column: Column, widget: Text) -> None:
    face, palette = STYLES[widget.style], column.look.palette
    colour = {"caption": palette.secondary, "heading": palette.accent, "link": palette.accent}.get(
        widget.style, palette.text
    )
    if column.look.wallpaper and widget.style == "heading":
        colour = palette.text
    lines = lettering.wrap(widget.text, face, column.width - 2 * MARGIN)
    pad = 8 if widget.style == "heading" else 4
    if widget.tap:
        pad = max(pad, (26 - face.line * len(lines) + 1) // 2)
    y = column.y + pad
    for line in lines:
        column.scene.text(column.left + MARGIN, y, line, face, colour)
        y += face.line
    bottom = y + (pad if widget.tap else 3)
    box = (column.left + MARGIN - 4, column.y, column.right - MARGIN + 4, bottom)
    column.scene.element(box, widget.text, "text", tap=widget.tap)
    column.y = bottom


@lays(Row)
def _row(column: Column, widget: Row) -> None:
    scene, palette = column.scene, column.look.palette
    left = column.left + (40 if widget.icon else MARGIN)
    value = lettering.shorten(widget.value, SUBTITLE, round(column.width * 0.45))
    room = column.right - MARGIN - left - (lettering.width(value, SUBTITLE) + 8 if value else 0)
    top = column.y
    label = RowLabel(widget.title, widget.subtitle, room)
    box = (column.left, top, column.right, top + label.height)
    scene.element(box, widget.title, "row", tap=widget.tap, long=widget.long)
    middle = top + label.height // 2
    if widget.icon:
        _row_icon(column, widget.icon, column.left + 22, middle)
    label.place(column, left)
    if value:
        right = column.right - MARGIN
        scene.text(right, middle - SUBTITLE.line // 2, value, SUBTITLE, palette.accent, "right")
        shown = (right - lettering.width(value, SUBTITLE), middle - 8, right, middle + 8)
        scene.element(shown, widget.value, "text")
    column.y += label.height


class RowLabel:
    """A title over a subtitle, two lines each at most, centred in a row that is as tall as they need."""

    def __init__(self, title: str, subtitle: str, room: int) -> None:
        self.subtitle = subtitle
        self.room = room
        self.titles = lettering.wrap(title, TITLE, room, 2)
        self.subtitles = lettering.wrap(subtitle, SUBTITLE, room, 2) if subtitle else ()
        self.inner = len(self.titles) * TITLE.line + len(self.subtitles) * (SUBTITLE.line - 1)
        self.height = max(38, self.inner + 12)

    def place(self, column: Column, left: int) -> None:
        scene, palette = column.scene, column.look.palette
        y = column.y + (self.height - self.inner) // 2
        for line in self.titles:
            scene.text(left, y, line, TITLE, palette.text)
            y += TITLE.line
        start = y
        for line in self.subtitles:
            scene.text(left, y, line, SUBTITLE, palette.secondary)
            y += SUBTITLE.line - 1
        if self.subtitles:
            scene.element((left, start, left + self.room, y), self.subtitle, "text")


def _row_icon(column: Column, name: str, x: int, y: int) -> None:
    """A pale disc with the glyph in it."""
    palette = column.look.palette
    column.scene.rounded((x - 13, y - 13, x + 13, y + 13), 13, palette.tint)
    column.scene.glyph(x, y, 16, name, palette.accent)


@lays(Field)
def _field(column: Column, widget: Field) -> None:
    top = column.y + 5
    column.spots[widget.key] = (top - column.top, top - column.top + FIELD_HEIGHT)
    place_field(column.scene, column.look, widget, column.left + MARGIN, column.right - MARGIN, top, FIELD_HEIGHT)
    column.y = top + FIELD_HEIGHT + 5


def place_field(scene: Scene, look: Look, widget: Field, left: int, right: int, top: int, height: int) -> None:
    """A field anywhere: in the body, in the title bar, at the lower edge."""
    palette = look.palette
    text = look.fields.get(widget.key, "")
    focused = look.focus == widget.key
    middle, radius = top + height // 2, min(8, height // 2)
    scene.rounded((left, top, right, top + height), radius, palette.field)
    if focused:
        scene.ring((left, top, right, top + height), radius, 2, palette.accent)
    tight = right - left < 120  # an address bar between icons needs every pixel for its text
    x, end = left + (5 if tight else 8), right - (3 if tight else 6)
    if widget.icon:
        scene.glyph(x + 6, middle, 12 if tight else 14, widget.icon, palette.secondary)
        x += 14 if tight else 17
    clearable = focused and bool(text)
    if clearable:
        end = right - 26
    box = (left, top, end if clearable else right, top + height)
    scene.element(box, text or widget.hint, "field", ("@focus", widget.key), focused=focused)
    if text:
        shown = (lettering.tail if focused else lettering.shorten)(text, FIELD, end - x - 2)
    else:
        shown = lettering.shorten(widget.hint, FIELD, end - x - 2)
    scene.text(x, middle - FIELD.line // 2, shown, FIELD, palette.text if text else palette.secondary)
    if focused:
        caret = x + (lettering.width(shown, FIELD) + 1 if text else -2)
        scene.fill((caret, middle - 8, caret + 1, middle + 8), palette.accent)
    if clearable:
        scene.glyph(right - 13, middle, 16, "close", palette.text)
        scene.say_label("Clear", right - 13, middle)
        scene.element((right - 26, top, right, top + height), "Clear", "icon", ("@clear", widget.key))


@lays(Button)
def _button(column: Column, widget: Button) -> None:
    place_button(column, widget, column.left + MARGIN, column.right - MARGIN, column.y + 5, widget.tap)
    column.y += 40


@lays(ButtonRow)
def _button_row(column: Column, widget: ButtonRow) -> None:
    count = len(widget.buttons)
    room = column.width - 2 * MARGIN + 8
    for index, button in enumerate(widget.buttons):
        left = column.left + MARGIN + room * index // count
        right = column.left + MARGIN + room * (index + 1) // count - 8
        place_button(column, button, left, right, column.y + 5, button.tap)
    column.y += 40


def place_button(column: Column, widget: Button, left: int, right: int, top: int, tap: Event) -> None:
    scene, palette = column.scene, column.look.palette
    box = (left, top, right, top + 30)
    if widget.filled:
        scene.rounded(box, 15, palette.accent)
    else:
        scene.rounded(box, 15, palette.surface)
        scene.ring(box, 15, 1, palette.secondary)
    label = lettering.shorten(widget.label, LABEL, right - left - 8)
    colour = palette.on_accent if widget.filled else palette.accent
    scene.text((left + right) // 2, top + 15 - LABEL.line // 2, label, LABEL, colour, "centre")
    scene.element(box, widget.label, "button", tap)


@lays(Bubble)
def _bubble(column: Column, widget: Bubble) -> None:
    palette, face = column.look.palette, STYLES["body"]
    lines = lettering.wrap(widget.text, face, round(column.width * 0.68))
    width = max(lettering.width(line, face) for line in lines) + 18
    left = column.right - 8 - width if widget.mine else column.left + 8
    box = (left, column.y + 3, left + width, column.y + 3 + len(lines) * face.line + 11)
    column.scene.rounded(box, 11, palette.accent if widget.mine else palette.field)
    y = box[1] + 5
    for line in lines:
        column.scene.text(left + 9, y, line, face, palette.on_accent if widget.mine else palette.text)
        y += face.line
    column.scene.element(box, widget.text, "bubble")
    column.y = box[3] + 3


@lays(Divider)
def _divider(column: Column, widget: Divider) -> None:
    y = column.y + 3
    column.scene.fill((column.left + MARGIN, y, column.right - MARGIN, y + 1), column.look.palette.outline)
    column.y += 7


@lays(Spacer)
def _spacer(column: Column, widget: Spacer) -> None:
    column.y += column.slack


def bar_colours(colour: str, plain: Colour, dark: bool) -> tuple[Colour, Colour]:
    """Background and text of a bar that has a colour of its own, darkened on a dark phone."""
    if not colour:
        return plain, readable_on(plain)
    base = rgb(colour)
    base = mix(base, (18, 19, 23), 0.45) if dark else base
    return base, readable_on(base)
