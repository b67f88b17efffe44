"""Widgets → scene: icons in a grid, cards, pictures."""

from __future__ import annotations

from distrl.devices.sim import lettering
from distrl.devices.sim.layout import SUBTITLE, Column, lays
from distrl.devices.sim.lettering import Face
from distrl.devices.sim.theme import readable_on, rgb
from distrl.devices.sim.ui import Card, CardGrid, Dots, Icon, IconGrid, Picture

CAPTION = Face("Medium", 10)
NARROW_CAPTION = Face("Regular", 10)
CARD_TITLE = Face("Medium", 11)
PRICE = Face("Bold", 13)
TILE = 36
CELL_HEIGHT = 62
RADII = {"round": 18, "squircle": 11, "square": 7}


@lays(IconGrid)
def _icon_grid(column: Column, widget: IconGrid) -> None:
    left, room = column.left, column.width
    for index, icon in enumerate(widget.icons):
        line, place = divmod(index, widget.columns)
        start = left + room * place // widget.columns
        end = left + room * (place + 1) // widget.columns
        _grid_icon(column, icon, start, end, column.y + 4 + line * CELL_HEIGHT)
    column.y += 4 + CELL_HEIGHT * -(-len(widget.icons) // widget.columns)


def _grid_icon(column: Column, icon: Icon, start: int, end: int, top: int) -> None:
    scene, palette = column.scene, column.look.palette
    middle = (start + end) // 2
    tile = (middle - TILE // 2, top + 4, middle + TILE // 2, top + 4 + TILE)
    fill = rgb(icon.colour) if icon.colour else palette.tint
    ink = readable_on(fill) if icon.colour else palette.accent
    scene.rounded(tile, RADII[column.look.icons], fill)
    scene.glyph(middle, top + 4 + TILE // 2, 22, icon.glyph, ink)
    face = CAPTION if lettering.width(icon.label, CAPTION) <= end - start else NARROW_CAPTION
    label = lettering.shorten(icon.label, face, end - start)
    if column.look.wallpaper:  # a shadow keeps white letters readable on a bright spot
        scene.shadow(middle, top + 43, label, face)
    scene.text(middle, top + 43, label, face, palette.text, "centre")
    scene.element((start, top, end, top + CELL_HEIGHT - 2), icon.label, "icon", icon.tap, icon.long)


@lays(Card)
def _card(column: Column, widget: Card) -> None:
    _wide_card(column, widget)


@lays(CardGrid)
def _card_grid(column: Column, widget: CardGrid) -> None:
    if widget.columns == 1:
        for card in widget.cards:
            _wide_card(column, card)
        return
    count, room = widget.columns, column.width - 16 + 8
    for first in range(0, len(widget.cards), count):
        cards = widget.cards[first : first + count]
        width = room // count - 8
        height = max(_tall_height(card, width) for card in cards)
        for place, card in enumerate(cards):
            _tall_card(column, card, column.left + 8 + place * (width + 8), column.y + 4, width, height)
        column.y += height + 8


def _tall_height(card: Card, width: int) -> int:
    lines = len(lettering.wrap(card.title, CARD_TITLE, width - 12, 2))
    extra = (SUBTITLE.line if card.subtitle else 0) + (PRICE.line if card.price else 0)
    return 64 + lines * CARD_TITLE.line + extra + 8


def _tall_card(column: Column, card: Card, left: int, top: int, width: int, height: int) -> None:
    scene, palette = column.scene, column.look.palette
    box = (left, top, left + width, top + height)
    scene.rounded(box, 9, palette.surface)
    scene.ring(box, 9, 1, palette.outline)
    scene.picture((left + 3, top + 3, left + width - 3, top + 61), card.picture or card.title)
    scene.element(box, card.title, "card", card.tap)
    _card_text(column, card, left + 6, top + 64, width - 12, 2)


def _wide_card(column: Column, card: Card) -> None:
    scene, palette = column.scene, column.look.palette
    left, right, top = column.left + 8, column.right - 8, column.y + 4
    room = right - left - 66
    lines = len(lettering.wrap(card.title, CARD_TITLE, room, 2))
    extra = (SUBTITLE.line if card.subtitle else 0) + (PRICE.line if card.price else 0)
    height = max(60, lines * CARD_TITLE.line + extra + 12)
    box = (left, top, right, top + height)
    scene.rounded(box, 9, palette.surface)
    scene.ring(box, 9, 1, palette.outline)
    scene.picture((left + 4, top + 4, left + 56, top + height - 4), card.picture or card.title)
    scene.element(box, card.title, "card", card.tap)
    _card_text(column, card, left + 62, top + 6, room, 2)
    column.y = top + height + 4


def _card_text(column: Column, card: Card, left: int, top: int, width: int, most: int) -> None:
    scene, palette = column.scene, column.look.palette
    y = top
    for line in lettering.wrap(card.title, CARD_TITLE, width, most):
        scene.text(left, y, line, CARD_TITLE, palette.text)
        y += CARD_TITLE.line
    for text, face, colour in (
        (card.subtitle, SUBTITLE, palette.secondary),
        (card.price, PRICE, palette.accent),
    ):
        if text:
            scene.text(left, y, lettering.shorten(text, face, width), face, colour)
            scene.element((left, y, left + width, y + face.line), text, "text")
            y += face.line


@lays(Dots)
def _dots(column: Column, widget: Dots) -> None:
    palette, middle, y = column.look.palette, (column.left + column.right) // 2, column.y + 7
    for index in range(widget.count):
        x = middle + 12 * index - 6 * (widget.count - 1)
        radius = 3 if index == widget.at else 2
        colour = palette.text if index == widget.at else palette.secondary
        column.scene.rounded((x - radius, y - radius, x + radius, y + radius), radius, colour)
    column.y += 14


@lays(Picture)
def _picture(column: Column, widget: Picture) -> None:
    box = (column.left + 8, column.y + 4, column.right - 8, column.y + 4 + widget.height)
    column.scene.picture(box, widget.name, 8)
    column.y += widget.height + 8
