"""State → scene: the page in front with its bars, then keyboard, dialog and pop-up above it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from distrl.devices.sim import bars, controls, grids, keyboard, popups  # noqa: F401  (register their widgets)
from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.layout import Column, bar_colours
from distrl.devices.sim.scene import HEIGHT, WIDTH, Look, Scene
from distrl.devices.sim.theme import mix, palette
from distrl.devices.sim.ui import Page
from distrl.types import Tree

Apps = Mapping[str, App]


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

    def _look(self) -> Look:
        theme = self.system["theme"]
        wallpaper = self.frame["app"] == "launcher"
        colours = palette(theme["dark"] or wallpaper, theme["accent"])
        return Look(colours, theme["icons"], self.frame["fields"], self.frame["focus"], wallpaper)

    def _inks(self) -> bars.Inks:
        theme, colours = self.system["theme"], self.look.palette
        if self.look.wallpaper:
            return bars.Inks((0, 0, 0), colours.text)
        colour = self.page.colour or (self.app.colour if theme["bars"] == "app" else "")
        back, front = bar_colours(colour, mix(colours.background, colours.accent, 0.14), theme["dark"])
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
        frame, scene = self.frame, self.scene
        padding = 56 if self.page.fab else 8
        self._settle(top, bottom, padding)
        offset = self.scrollable - frame["scroll"] if self.anchored_below else frame["scroll"]
        scene.clip = (0, top, WIDTH, bottom)
        scene.ops.append(("clip", scene.clip))
        column = Column(scene, self.look, 0, WIDTH, top - offset)
        column.place(self.page.body)
        self.scrollable = max(0, column.height + padding - (bottom - top))
        if self.scrollable:
            self._place_scroll_bar(top, bottom, offset)
        scene.ops.append(("unclip",))
        scene.clip = (0, 0, WIDTH, HEIGHT)

    def _settle(self, top: int, bottom: int, padding: int) -> None:
        """Bring `scroll` into its range. Nothing to measure where a page stands at its start."""
        frame = self.frame
        if not (frame["scroll"] or self.anchored_below or self.typing):
            return
        blind = Scene()
        blind.clip = (0, -2, 0, -1)
        column = Column(blind, self.look, 0, WIDTH, 0)
        column.place(self.page.body)
        self.scrollable = max(0, column.height + padding - (bottom - top))
        if frame["focus"] in column.spots and not self.anchored_below:
            start, end = column.spots[frame["focus"]]
            frame["scroll"] = max(min(frame["scroll"], start - 4), end + 8 - (bottom - top))
        frame["scroll"] = max(0, min(frame["scroll"], self.scrollable))

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
            bars.place_fab(scene, self.look, page.fab, bottom)
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
        wifi = bool(self.state.get("settings", {}).get("wifi", True))
        bars.place_status(self.scene, self.system, wifi, self._inks(), transparent=self.look.wallpaper)
        colours = self.look.palette
        if self.look.wallpaper and not self.typing:
            bars.place_navigation(self.scene, None, colours.text)
        else:
            bars.place_navigation(self.scene, colours.background, colours.text)
