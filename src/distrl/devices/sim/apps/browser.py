"""The browser: an address bar, tabs (private ones too), bookmarks, history, and the web behind them."""

from __future__ import annotations

import random

from distrl.devices.sim.apps.base import Context
from distrl.devices.sim.apps.web import find, shop
from distrl.devices.sim.apps.web.facts import VENUES, venue_facts
from distrl.devices.sim.apps.web.places import NEW_TAB, PAPERS, SITES, address_of, place, resolve, title_of
from distrl.devices.sim.apps.web.shopping import Shopping
from distrl.devices.sim.apps.web.shops import SHOPS
from distrl.devices.sim.ui import Button, Dialog, Field, Icon, Page, Row, Tabs, Text
from distrl.types import Tree

MODES = ("Tabs", "Private")
MENU = ("New tab", "New private tab", "Bookmarks", "History")


class Browser(Shopping):
    """A tab is {"id", "private", "history": [where it is]}; `recent` is the id of the tab in front.

    Those two keys may change freely: going somewhere is no side effect, opening or closing a tab is.
    """

    id = "browser"
    title = "Browser"
    glyph = "globe"
    colour = "#3f51b5"
    home = "web"

    def seed(self, rng: random.Random) -> Tree:
        read = [*PAPERS, *VENUES]
        tabs = [new_tab(number, place(site)) for number, site in enumerate(rng.sample(read, rng.randint(0, 3)), 2)]
        tabs.insert(rng.randint(0, len(tabs)), new_tab(1, dict(NEW_TAB)))
        return {
            "seed": rng.randrange(10**6),
            "tabs": tabs,
            "recent": 1,
            "bookmarks": [bookmark(place(site)) for site in rng.sample(read, rng.randint(2, 6))],
            "history": [place(site) for site in rng.sample(read, 3)],
            "shortcuts": rng.sample(SITES, 8),
            "venues": {name: venue_facts(rng) for name in VENUES},
            "shops": {name: {"seed": rng.randrange(10**6), "stock": {}, "cart": [], "orders": []} for name in SHOPS},
        }

    # -- where we are

    def tab(self, ctx: Context) -> Tree:
        """The tab of the page in front."""
        wanted = ctx.args.get("tab", ctx.data["recent"])
        tabs: list[Tree] = ctx.data["tabs"]
        return next((tab for tab in tabs if tab["id"] == wanted), tabs[0])

    def where(self, ctx: Context) -> Tree:
        """The place in front. A frame that names none shows what its tab showed last."""
        where: Tree = ctx.args if "site" in ctx.args else self.tab(ctx)["history"][-1]
        return where

    def on_visit(self, ctx: Context, where: Tree) -> None:
        tab = self.tab(ctx)
        tab["history"] = [dict(where)]
        if not tab["private"]:
            ctx.data["history"].append(dict(where))
        query = {"query": where["query"]} if "query" in where else None
        ctx.push("web", fields=query, tab=tab["id"], **where)

    def on_submit(self, ctx: Context, key: str) -> None:
        text = ctx.field(key).strip()
        ctx.unfocus()
        ctx.fields.pop("address", None)
        if text and key == "address":
            self.on_visit(ctx, resolve(text))
        elif text:
            self.on_search(ctx, text)

    # -- pages

    def page_web(self, ctx: Context) -> Page:
        where, private = self.where(ctx), self.tab(ctx)["private"]
        shopping = where["site"] in SHOPS
        return Page(
            title_of(where),
            shop.body(ctx, where) if shopping else find.body(ctx, where, private),
            actions=(Icon("tab", "Tabs", ("tabs",)), Icon("more", "Menu", ("dialog", "menu", {}))),
            search=Field("address", address_of(where) or "Search or visit", "lock"),
            bottom=shop.bottom(where) if shopping else None,
            colour="#333333" if private else SHOPS[where["site"]].colour if shopping else self.colour,
        )

    def page_tabs(self, ctx: Context) -> Page:
        mode, closing = ctx.ui.get("mode", "Tabs"), ctx.ui.get("closing", False)
        tabs = [tab for tab in ctx.data["tabs"] if tab["private"] == (mode == "Private")]
        event = "close" if closing else "switch"
        rows = tuple(tab_row(tab["history"][-1], (event, tab["id"])) for tab in tabs)
        return Page(
            "Tap to close" if closing else "Tabs",
            rows or (Text("No tabs here"),),
            actions=(Icon("delete", "Close tabs", ("ui", "closing", not closing)),),
            tabs=Tabs(MODES, mode, "mode"),
            fab=Icon("add", "New tab", ("new", mode == "Private")),
            colour="#333333" if mode == "Private" else self.colour,
        )

    def page_bookmarks(self, ctx: Context) -> Page:
        deleting = ctx.ui.get("deleting", False)
        rows = tuple(
            tab_row(mark["place"], ("unmark", index) if deleting else ("visit", mark["place"]), "star")
            for index, mark in enumerate(ctx.data["bookmarks"])
        )
        actions = (Icon("delete", "Delete bookmarks", ("ui", "deleting", not deleting)),)
        title = "Tap to delete" if deleting else "Bookmarks"
        return Page(title, rows or (Text("No bookmarks"),), actions=actions, colour=self.colour)

    def page_history(self, ctx: Context) -> Page:
        rows = tuple(tab_row(where, ("visit", where), "clock") for where in reversed(ctx.data["history"][-20:]))
        actions = (Icon("delete", "Clear history", ("dialog", "clear", {})),)
        return Page("History", rows or (Text("No history"),), actions=actions, colour=self.colour)

    def dialog_menu(self, ctx: Context) -> Dialog:
        where = self.where(ctx)
        mark = () if where["site"] == "newtab" else ("Remove bookmark" if self.marked(ctx) else "Add bookmark",)
        return Dialog("Menu", body=tuple(Row(name, tap=("choose", name)) for name in (*MENU, *mark)))

    def dialog_clear(self, ctx: Context) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Clear", ("clear",)))
        return Dialog("Clear history?", buttons=buttons)

    def marked(self, ctx: Context) -> bool:
        return any(mark["title"] == title_of(self.where(ctx)) for mark in ctx.data["bookmarks"])

    # -- events

    def on_choose(self, ctx: Context, name: str) -> None:
        ctx.close_dialog()
        if name in ("Bookmarks", "History"):
            ctx.push(name.casefold(), tab=self.tab(ctx)["id"])
        elif name.startswith("New"):
            self.on_new(ctx, private="private" in name)
        else:
            self.on_mark(ctx)

    def on_mark(self, ctx: Context) -> None:
        where, marks = self.where(ctx), ctx.data["bookmarks"]
        if self.marked(ctx):
            marks[:] = [mark for mark in marks if mark["title"] != title_of(where)]
            ctx.snack("Bookmark removed")
        else:
            marks.append(bookmark({key: value for key, value in where.items() if key != "tab"}))
            ctx.snack("Bookmark added")

    def on_unmark(self, ctx: Context, index: int) -> None:
        ctx.data["bookmarks"].pop(index)
        ctx.snack("Bookmark removed")

    def on_tabs(self, ctx: Context) -> None:
        tab = self.tab(ctx)
        tab["history"] = [{key: value for key, value in self.where(ctx).items() if key != "tab"}]
        ctx.push("tabs")
        ctx.state["os"]["stack"][-1]["ui"]["mode"] = MODES[tab["private"]]

    def on_mode(self, ctx: Context, mode: str) -> None:
        ctx.ui["mode"] = mode

    def on_new(self, ctx: Context, private: bool) -> None:
        tab = new_tab(max((t["id"] for t in ctx.data["tabs"]), default=0) + 1, dict(NEW_TAB), private)
        ctx.data["tabs"].append(tab)
        self.on_switch(ctx, tab["id"])

    def on_switch(self, ctx: Context, number: int) -> None:
        tab = next(tab for tab in ctx.data["tabs"] if tab["id"] == number)
        ctx.data["recent"] = number
        ctx.push("web", tab=number, **tab["history"][-1])

    def on_close(self, ctx: Context, number: int) -> None:
        tabs = ctx.data["tabs"]
        tabs[:] = [tab for tab in tabs if tab["id"] != number]
        if not tabs:  # a browser always has a tab
            tabs.append(new_tab(number + 1, dict(NEW_TAB)))
        if ctx.data["recent"] == number:
            ctx.data["recent"] = tabs[-1]["id"]
        stack = ctx.state["os"]["stack"]
        stack[:] = [frame for frame in stack if frame["app"] != self.id or frame["args"].get("tab") != number]
        ctx.snack("Tab closed")

    def on_clear(self, ctx: Context) -> None:
        ctx.data["history"].clear()


def new_tab(number: int, where: Tree, private: bool = False) -> Tree:
    return {"id": number, "private": private, "history": [where]}


def bookmark(where: Tree) -> Tree:
    return {"title": title_of(where), "place": where}


def tab_row(where: Tree, tap: tuple[object, ...], icon: str = "globe") -> Row:
    return Row(title_of(where), address_of(where), icon, tap=tap)
