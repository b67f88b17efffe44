"""State → scene: the page in front with its bars, then keyboard, dialog and pop-up above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from distrl.devices.sim import bars, controls, grids, keyboard, popups, switches  # noqa: F401  (these register widgets)
from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.layout import Column, bar_colours, measured
from distrl.devices.sim.scene import HEIGHT, WIDTH, Look, Scene
from distrl.devices.sim.theme import mix, palette
from distrl.devices.sim.ui import Page, Spacer
from distrl.types import Tree

Apps = Mapping[str, App]
BODY_TOP = 4


class Composition:
    """A scene and what the phone must know to scroll it. Writing it corrects the scroll position in the tree:
    a list never scrolls past its ends, and the focused field is never hidden."""

    def __init__(self, state: Tree, apps: Apps) -> None:
        self.scene = Scene()
        self.state = state
        self.system: Tree = state["os"]
        self.frame: Tree = self.system["stack"][-1]
        self.app = apps[self.frame["app"]]
        self.context = Context(state, self.frame)
        self.page: Page = self.app.page(self.context)
        self.look = self._look()
        self.scrollable = 0
        """How many pixels the part that a swipe moves can scroll."""
        self._place_page()
        self._place_dialog()
        self._place_popup(apps)
        self._place_system()

    @property
    def typing(self) -> bool:
        return bool(self.frame["focus"])

    @property
    def anchored_below(self) -> bool:
        """Chats begin at their end: `scroll` then counts from the bottom."""
        return self.page.footer is not None

    @property
    def _dark(self) -> bool:
        """The settings decide; a phone without that app keeps the look it was seeded with."""
        return bool(self.state.get("settings", {}).get("dark", self.system["theme"]["dark"]))

    def _look(self) -> Look:
        theme = self.system["theme"]
        wallpaper = self.frame["app"] == "launcher"
        colours = palette(self._dark or wallpaper, theme["accent"])
        return Look(colours, theme["icons"], self.frame["fields"], self.frame["focus"], wallpaper)

    def _inks(self) -> bars.Inks:
        theme, colours = self.system["theme"], self.look.palette
        if self.look.wallpaper:
            return bars.Inks((0, 0, 0), colours.text)
        colour = self.page.colour or (self.app.colour if theme["bars"] == "app" else "")
        back, front = bar_colours(colour, mix(colours.background, colours.accent, 0.14), self._dark)
        return bars.Inks(back, front)

    # -- the page

    def _place_page(self) -> None:
        scene, page, look = self.scene, self.page, self.look
        if look.wallpaper:
            scene.ops.append(("wallpaper", self.system["wallpaper"], self.frame["page"] != self.app.home))
        else:
            scene.fill((0, 0, WIDTH, HEIGHT), look.palette.background)
        inks = self._inks()
        top = bars.STATUS_HEIGHT
        if bars.has_title_bar(page):
            bars.place_title(scene, look, page, inks, self._has_arrow())
            top += bars.TITLE_HEIGHT
        if page.tabs:
            bars.place_title_tabs(scene, page.tabs, top, inks)
            top += controls.TAB_HEIGHT
        bottom = keyboard.TOP if self.typing else bars.NAVIGATION_TOP
        if page.bottom and not self.typing:
            bottom -= bars.BOTTOM_HEIGHT
        if page.footer:
            bottom -= bars.FOOTER_HEIGHT
        self._place_body(top, bottom)
        self._place_lower_edge(bottom)

    def _has_arrow(self) -> bool:
        """There is a page below this one that is not the home screen."""
        return self.frame["app"] != "launcher" and len(self.system["stack"]) > 2

    def _place_body(self, top: int, bottom: int) -> None:
        frame, scene, view = self.frame, self.scene, bottom - top
        padding = 52 if self.page.fab else 4
        slack = self._settle(view, padding)
        offset = self.scrollable - frame["scroll"] if self.anchored_below else frame["scroll"]
        scene.clip = (0, top, WIDTH, bottom)
        scene.ops.append(("clip", scene.clip))
        column = Column(scene, self.look, 0, WIDTH, top + BODY_TOP - offset)
        column.slack = slack
        column.place(self.page.body)
        self.scrollable = max(0, BODY_TOP + column.height + padding - view)
        if self.scrollable:
            self._place_scroll_bar(top, bottom, offset)
        scene.ops.append(("unclip",))
        scene.clip = (0, 0, WIDTH, HEIGHT)

    def _settle(self, view: int, padding: int) -> int:
        """Bring `scroll` into its range; returns how tall a spacer is. A page at its start need not be measured."""
        frame = self.frame
        spacers = sum(isinstance(widget, Spacer) for widget in self.page.body)
        if not (frame["scroll"] or self.anchored_below or self.typing or spacers):
            return 0
        column = measured(self.look, self.page.body, 0, WIDTH)
        spare = view - BODY_TOP - column.height - padding
        self.scrollable = max(0, -spare)
        if frame["focus"] in column.spots and not self.anchored_below:
            start, end = column.spots[frame["focus"]]
            frame["scroll"] = max(min(frame["scroll"], start), end + BODY_TOP + 8 - view)
        frame["scroll"] = max(0, min(frame["scroll"], self.scrollable))
        return max(0, spare) // spacers if spacers else 0

    def _place_scroll_bar(self, top: int, bottom: int, offset: int) -> None:
        view = bottom - top
        length = max(16, view * view // (view + self.scrollable))
        start = top + (view - length) * offset // self.scrollable
        self.scene.rounded((WIDTH - 4, start, WIDTH - 1, start + length), 1, self.look.palette.outline)

    def _place_lower_edge(self, bottom: int) -> None:
        scene, page = self.scene, self.page
        if page.footer:
            bars.place_footer(scene, self.look, page.footer, bottom + bars.FOOTER_HEIGHT)
        if page.fab and not self.typing:
            bars.place_fab(scene, self.look, page.fab, bottom - (30 if self.system["snackbar"] else 0))
        if page.bottom and not self.typing:
            bars.place_bottom_tabs(scene, self.look, page.bottom)
        if self.typing:
            keyboard.place_keyboard(scene, replace(self.look, wallpaper=False))
        if self.system["snackbar"]:
            bars.place_snackbar(scene, self.system["snackbar"], bottom)

    # -- above the page

    def _place_dialog(self) -> None:
        dialog = self.system["dialog"]
        if dialog is None:
            return
        shown = self.app.show_dialog(self.context, dialog["name"], dialog["args"])
        bottom = keyboard.TOP if self.typing else bars.NAVIGATION_TOP
        scroll = dialog.get("scroll", 0)
        self.scrollable = popups.place_box(self.scene, self.look, shown, "dialog", bottom, scroll)
        if scroll > self.scrollable:
            dialog["scroll"] = self.scrollable
        if self.typing:
            keyboard.place_keyboard(self.scene, self.look)

    def _place_popup(self, apps: Apps) -> None:
        popup = self.system["popup"]
        if popup is None:
            return
        shown = popups.describe(popup, apps[popup["app"]].title)
        self.scrollable = popups.place_box(self.scene, self.look, shown, "popup", bars.NAVIGATION_TOP, 0)

    def _place_system(self) -> None:
        """Status and navigation, dimmed with the page where something lies above it."""
        covered = self.system["dialog"] is not None or self.system["popup"] is not None
        inks, colours = self._inks(), self.look.palette
        navigation = bars.Inks(colours.background, colours.text)
        if covered:
            inks, navigation = inks.dimmed(), navigation.dimmed()
        transparent = self.look.wallpaper
        bars.place_status(self.scene, bars.status_of(self.state), inks, transparent)
        bars.place_navigation(self.scene, navigation, transparent and not self.typing)
