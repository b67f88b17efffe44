"""The home screen: pages of icons, a dock, a search box, and the drawer with every app.

Stored: `pages` (lists of app titles), `dock`, `drawer` (all titles, in drawer order), `search` (where its box is),
`greeting` (a line above the icons, or nothing), `columns`,
`recent` (searches made), `history` (apps opened).
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Button, Dots, Field, Icon, IconGrid, Page, Picture, Spacer, Text, Widget
from distrl.types import Tree

DOCK_SIZE = 4
MATCHES_SHOWN = 8
COLOURS = ("#7a5195", "#2f8f6b", "#b5651d", "#3a6ea5", "#a83f5b", "#5a7d2a")


class Launcher(App):
    id = "launcher"
    title = "Home"
    glyph = "home"
    colour = "#444444"
    home = "home"

    def seed(self, rng: random.Random) -> Tree:
        titles = [app.title for app in other_apps()]
        rng.shuffle(titles)
        dock, rest = titles[:DOCK_SIZE], titles[DOCK_SIZE:]
        hidden = rng.randint(1, 2)
        pages = deal(rest[hidden:], rng.randint(2, 3))
        return {
            "pages": pages,
            "dock": dock,
            "drawer": rng.sample(titles, len(titles)),
            "search": rng.choice(("top", "middle", "bottom")),
            "greeting": rng.choice(("", "", "Good morning", "Hello", "Welcome back")),
            "columns": rng.choice((3, 4)),
            "recent": [],
            "history": [],
        }

    def page_home(self, ctx: Context) -> Page:
        search = Field("query", "Search apps", icon="search")
        if ctx.frame["focus"] or ctx.field("query"):
            return Page("", (search, grid(self._matches(ctx)[:MATCHES_SHOWN])))
        pages, here = ctx.data["pages"], self._position(ctx)
        parts: list[Widget] = [
            grid(installed(ctx, pages[here]), ctx.data["columns"]),
            Spacer(),
            Dots(len(pages), here),
            grid(installed(ctx, ctx.data["dock"])),
        ]
        parts.insert({"top": 0, "middle": 3, "bottom": 4}[ctx.data["search"]], search)
        greeting = (Text(ctx.data["greeting"], style="title"),) if ctx.data["greeting"] else ()
        return Page("", (*greeting, *parts))

    def page_drawer(self, ctx: Context) -> Page:
        return Page("All apps", (grid(all_titles(ctx), ctx.data["columns"]),))

    def page_app(self, ctx: Context) -> Page:
        """An app from the store that is no more than its name."""
        title = ctx.args["title"]
        return Page(title, (Picture(title), Text(f"Welcome to {title}"), Button("Close", ("back",))))

    def on_swipe(self, ctx: Context, direction: str) -> None:
        if ctx.frame["page"] != "home":
            return
        if direction == "up":
            ctx.push("drawer")
        elif direction in ("left", "right"):
            step = 1 if direction == "left" else -1
            ctx.ui["position"] = min(max(self._position(ctx) + step, 0), len(ctx.data["pages"]) - 1)

    def on_launch(self, ctx: Context, title: str) -> None:
        self._leave_search(ctx)
        ctx.data["history"].append(title)
        app = next((app for app in other_apps() if app.title == title), None)
        if app is None:
            ctx.push("app", title=title)
        else:
            ctx.push(app.home, app=app.id)

    def on_submit(self, ctx: Context, key: str) -> None:
        matches = self._matches(ctx)
        if matches:
            self.on_launch(ctx, matches[0])
        else:
            ctx.snack("No app found")

    def _leave_search(self, ctx: Context) -> None:
        query = ctx.field("query")
        if query:
            ctx.data["recent"].append(query)
            ctx.fields["query"] = ""
        ctx.unfocus()

    def _matches(self, ctx: Context) -> list[str]:
        """Apps whose name begins with the query, or else contains it."""
        query = ctx.field("query").strip().casefold()
        titles = [title for title in all_titles(ctx) if query in title.casefold()]
        return sorted(titles, key=lambda title: (not title.casefold().startswith(query), title))

    def _position(self, ctx: Context) -> int:
        return min(int(ctx.ui.get("position", 0)), len(ctx.data["pages"]) - 1)


def grid(titles: Iterable[str], columns: int = 4) -> IconGrid:
    known = {app.title: app for app in other_apps()}
    icons = []
    for title in titles:
        app = known.get(title)
        glyph, colour = (app.glyph, app.colour) if app else (title, COLOURS[len(title) % len(COLOURS)])
        icons.append(Icon(glyph, title, ("launch", title), colour=colour))
    return IconGrid(tuple(icons), columns)


def other_apps() -> list[App]:
    """Every app of the phone but the launcher."""
    from distrl.devices.sim.apps import APPS  # late: the table of apps holds the launcher too

    return [app for app in APPS.values() if app.id != Launcher.id]


def deal(titles: list[str], hands: int) -> list[list[str]]:
    """Spread titles over that many pages, as evenly as they go."""
    return [titles[i::hands] for i in range(hands)]


def all_titles(ctx: Context) -> list[str]:
    """Drawer order; apps that came later stand at the end."""
    return list(dict.fromkeys([*installed(ctx, ctx.data["drawer"]), *store_titles(ctx)]))


def installed(ctx: Context, titles: Iterable[str]) -> list[str]:
    """Those of the titles that are the phone's own, or not uninstalled."""
    own = {app.title for app in other_apps()}
    return [title for title in titles if title in own or title in store_titles(ctx)]


def store_titles(ctx: Context) -> list[str]:
    titles: list[str] = ctx.state.get("store", {}).get("installed", [])
    return titles
