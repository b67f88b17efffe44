"""What surrounds a page: status bar, title bar, bottom tabs, footer, floating button, snackbar, system navigation."""

from __future__ import annotations

from dataclasses import dataclass

from distrl.devices.sim import lettering
from distrl.devices.sim.controls import TAB, TAB_HEIGHT, place_tabs
from distrl.devices.sim.layout import place_field
from distrl.devices.sim.lettering import Face
from distrl.devices.sim.scene import HEIGHT, WIDTH, Box, Look, Scene
from distrl.devices.sim.theme import BLACK, WHITE, Colour, dimmed, mix
from distrl.devices.sim.ui import Field, Icon, Page, Tabs
from distrl.types import Tree

STATUS_HEIGHT = 16
TITLE_HEIGHT = 34
NAVIGATION_HEIGHT = 24
BOTTOM_HEIGHT = 32
FOOTER_HEIGHT = 40
NAVIGATION_TOP = HEIGHT - NAVIGATION_HEIGHT
STATUS = Face("Medium", 10)
TITLE = Face("Bold", 15)
SNACK = Face("Medium", 11)
INK: Colour = (40, 41, 48)


@dataclass(frozen=True, slots=True)
class Inks:
    """Background and foreground of a bar."""

    back: Colour
    front: Colour

    def dimmed(self) -> Inks:
        return Inks(dimmed(self.back), dimmed(self.front))


@dataclass(frozen=True, slots=True)
class Status:
    """Contents of the status bar."""

    clock: str
    battery: str
    wifi: bool


def status_of(state: Tree) -> Status:
    """From the settings app; a phone without it shows its seeded values."""
    system, settings = state["os"], state.get("settings", {})
    battery = settings.get("about", {}).get("Battery level", f"{system['battery']}%")
    wifi = bool(settings.get("wifi", True)) and not settings.get("airplane", False)
    return Status(system["clock"], battery, wifi)


def has_title_bar(page: Page) -> bool:
    return bool(page.title or page.search or page.actions)


def place_status(scene: Scene, status: Status, inks: Inks, transparent: bool) -> None:
    if not transparent:
        scene.fill((0, 0, WIDTH, STATUS_HEIGHT), inks.back)
    scene.text(8, 2, status.clock, STATUS, inks.front)
    scene.element((4, 0, 44, STATUS_HEIGHT), status.clock, "text")
    if status.wifi:
        scene.glyph(WIDTH - 52, 8, 12, "wifi", inks.front)
    scene.glyph(WIDTH - 39, 8, 12, "battery", inks.front)
    scene.text(WIDTH - 6, 2, status.battery, STATUS, inks.front, "right")
    scene.element((WIDTH - 34, 0, WIDTH, STATUS_HEIGHT), status.battery, "text")


def place_title(scene: Scene, look: Look, page: Page, inks: Inks, arrow: bool) -> None:
    """The bar under the status bar: back arrow, title or search field, icons."""
    top, middle = STATUS_HEIGHT, STATUS_HEIGHT + TITLE_HEIGHT // 2
    if not look.wallpaper:
        scene.fill((0, top, WIDTH, top + TITLE_HEIGHT), inks.back)
    left, right = (28 if arrow else 10), WIDTH - 2 - 26 * len(page.actions)
    if page.search:
        place_field(scene, look, page.search, left if arrow else 6, right - 2, top + 3, TITLE_HEIGHT - 6)
    elif page.title:
        title = lettering.shorten(page.title, TITLE, right - left)
        scene.text(left, middle - TITLE.line // 2, title, TITLE, inks.front)
        scene.element((left, top + 5, right, top + TITLE_HEIGHT - 5), page.title, "text")
    if arrow:
        place_icon(scene, Icon("back", "Back", ("@press", "back")), (0, top, 28, top + TITLE_HEIGHT), inks.front)
    for index, icon in enumerate(page.actions):
        box = (right + 26 * index, top, right + 26 * index + 26, top + TITLE_HEIGHT)
        place_icon(scene, icon, box, inks.front)


def place_icon(scene: Scene, icon: Icon, box: Box, ink: Colour, size: int = 18) -> None:
    """A glyph without text; its label is for accessibility only."""
    x, y = (box[0] + box[2]) // 2, (box[1] + box[3]) // 2
    scene.glyph(x, y, size, icon.glyph, ink)
    scene.say_label(icon.label, x, y)
    scene.element(box, icon.label, "icon", icon.tap, icon.long)


def place_title_tabs(scene: Scene, tabs: Tabs, top: int, inks: Inks) -> None:
    scene.fill((0, top, WIDTH, top + TAB_HEIGHT), inks.back)
    place_tabs(scene, tabs, 0, WIDTH, top, inks.front, mix(inks.front, inks.back, 0.25))


def place_bottom_tabs(scene: Scene, look: Look, tabs: Tabs) -> None:
    """Navigation at the lower edge: the chosen name lies on a pill."""
    palette, top = look.palette, NAVIGATION_TOP - BOTTOM_HEIGHT
    scene.fill((0, top, WIDTH, NAVIGATION_TOP), mix(palette.background, palette.accent, 0.08))
    scene.fill((0, top, WIDTH, top + 1), palette.outline)
    count = len(tabs.names)
    for index, name in enumerate(tabs.names):
        left, right = WIDTH * index // count, WIDTH * (index + 1) // count
        on = name == tabs.selected
        label = lettering.shorten(name, TAB, right - left - 2)
        half = min((right - left) // 2 - 1, lettering.width(label, TAB) // 2 + 8)
        middle = (left + right) // 2
        if on:
            scene.rounded((middle - half, top + 5, middle + half, top + BOTTOM_HEIGHT - 4), 11, palette.accent)
        ink = palette.on_accent if on else palette.text
        scene.text(middle, top + (BOTTOM_HEIGHT - TAB.line) // 2, label, TAB, ink, "centre")
        scene.element((left, top, right, NAVIGATION_TOP), name, "tab", (tabs.event, name), checked=on)


def place_footer(scene: Scene, look: Look, field: Field, bottom: int) -> None:
    palette, top = look.palette, bottom - FOOTER_HEIGHT
    scene.fill((0, top, WIDTH, bottom), palette.background)
    scene.fill((0, top, WIDTH, top + 1), palette.outline)
    place_field(scene, look, field, 6, WIDTH - 40, top + 5, FOOTER_HEIGHT - 10)
    box = (WIDTH - 37, top + 4, WIDTH - 5, top + 36)
    scene.rounded(box, 16, palette.accent)
    place_icon(scene, Icon("send", "Send", ("@submit", field.key)), box, palette.on_accent)


def place_fab(scene: Scene, look: Look, icon: Icon, bottom: int) -> None:
    palette = look.palette
    box = (WIDTH - 50, bottom - 50, WIDTH - 10, bottom - 10)
    scene.cover(box)
    scene.rounded((box[0], box[1] + 2, box[2], box[3] + 2), 13, mix(palette.background, BLACK, 0.3))
    scene.rounded(box, 13, palette.accent)
    place_icon(scene, icon, box, palette.on_accent, 22)


def place_snackbar(scene: Scene, text: str, bottom: int) -> None:
    lines = lettering.wrap(text, SNACK, WIDTH - 36, 2)
    box = (8, bottom - 16 - len(lines) * SNACK.line, WIDTH - 8, bottom - 4)
    scene.cover(box)
    scene.rounded(box, 8, INK)
    scene.ring(box, 8, 1, (120, 122, 132))
    for index, line in enumerate(lines):
        scene.text(18, box[1] + 6 + index * SNACK.line, line, SNACK, WHITE)
    scene.shield(box, text, "snackbar")


def place_navigation(scene: Scene, inks: Inks, transparent: bool) -> None:
    """The three system buttons."""
    if not transparent:
        scene.fill((0, NAVIGATION_TOP, WIDTH, HEIGHT), inks.back)
    third = WIDTH // 3
    for index, (glyph, label, key) in enumerate(
        (("system back", "System back", "back"), ("system home", "Home", "home"), ("recents", "Recents", "recents"))
    ):
        box = (third * index, NAVIGATION_TOP, third * (index + 1), HEIGHT)
        place_icon(scene, Icon(glyph, label, ("@press", key)), box, inks.front, 14)
