"""The app store: find apps, install, update and uninstall them."""

from __future__ import annotations

import random

from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Button, ButtonRow, Dialog, Divider, Field, Page, Row, Tabs, Text, Widget
from distrl.types import Tree

CATALOGUE: dict[str, tuple[str, ...]] = {
    "Games": ("Chess", "Farm", "Castle", "Space Race", "Word Game", "Cards", "Dragon", "Puzzle"),
    "Tools": ("Compass", "Scanner", "Torch", "Recorder", "Ruler", "Zip Box", "Mirror", "Sketch"),
    "Social": ("Chat Room", "Friends", "Forum", "Blog", "Video Call", "Club", "Share", "Pen Pal"),
    "Health": ("Running", "Yoga", "Sleep", "Diet", "Steps", "Heart", "Water", "Gym"),
}
SECTIONS = ("Apps", "My apps")


class Store(App):
    id = "store"
    title = "App Store"
    glyph = "store"
    colour = "#2e8b57"
    home = "front"

    def seed(self, rng: random.Random) -> Tree:
        apps = [self._listing(rng, title, kind) for kind, titles in CATALOGUE.items() for title in titles]
        rng.shuffle(apps)
        installed = sorted(app["title"] for app in rng.sample(apps, rng.randint(3, 6)))
        return {"apps": apps, "installed": installed, "updates": rng.sample(installed, rng.randint(1, 2)), "recent": []}

    def _listing(self, rng: random.Random, title: str, kind: str) -> Tree:
        rating = f"{rng.randint(2, 4)}.{rng.randint(0, 9)}"
        return {"title": title, "kind": kind, "rating": rating, "size": f"{rng.randint(2, 90)} MB"}

    # -- pages

    def page_front(self, ctx: Context) -> Page:
        kind = ctx.ui.get("kind", "Games")
        found = [app for app in ctx.data["apps"] if app["kind"] == kind]
        return Page(
            self.title,
            self._rows(ctx, found),
            search=Field("query", "Search apps", icon="search"),
            tabs=Tabs(tuple(CATALOGUE), kind, "kind"),
            bottom=Tabs(SECTIONS, "Apps", "section"),
            colour=self.colour,
        )

    def page_results(self, ctx: Context) -> Page:
        found = matching(ctx.data["apps"], ctx.args["query"])
        body = self._rows(ctx, found) or (Text("No apps found"),)
        return Page("Results", body, search=Field("query", "Search apps", icon="search"), colour=self.colour)

    def page_detail(self, ctx: Context) -> Page:
        app = listing(ctx.data, ctx.args["title"])
        facts = (
            Row("Rating", value=app["rating"], icon="star"),
            Row("Size", value=app["size"], icon="download"),
            Row("Type", value=app["kind"], icon="tag"),
        )
        body = (Text(app["title"], "title"), self._buttons(ctx, app["title"]), Divider(), *facts)
        return Page("Details", body, colour=self.colour)

    def page_manage(self, ctx: Context) -> Page:
        installed, updates = ctx.data["installed"], ctx.data["updates"]
        body: tuple[Widget, ...] = ()
        if updates:
            rows = tuple(Row(title, "Update ready", icon=title, tap=("view", title)) for title in updates)
            body += (Text("Updates", "heading"), *rows, Button("Update all", ("update_all",)))
        rest = [title for title in installed if title not in updates]
        body += (Text("Installed", "heading"), *(Row(title, icon=title, tap=("view", title)) for title in rest))
        return Page("My apps", body, bottom=Tabs(SECTIONS, "My apps", "section"), colour=self.colour)

    def page_running(self, ctx: Context) -> Page:
        """An app from the store, opened. It shows that it runs and nothing more."""
        title = ctx.args["title"]
        return Page(title, (Text(f"Welcome to {title}", "heading"), Button("Start", ("snack", "Ready"))))

    def dialog_uninstall(self, ctx: Context, title: str) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Uninstall", ("uninstall", title)))
        return Dialog(f"Uninstall {title}?", "Its data will be deleted.", buttons=buttons)

    def _rows(self, ctx: Context, apps: list[Tree]) -> tuple[Widget, ...]:
        return tuple(
            Row(app["title"], app["kind"], app["title"], self._status(ctx, app["title"]), tap=("view", app["title"]))
            for app in apps
        )

    def _status(self, ctx: Context, title: str) -> str:
        if title in ctx.data["updates"]:
            return "Update"
        return "Installed" if title in ctx.data["installed"] else ""

    def _buttons(self, ctx: Context, title: str) -> Widget:
        if title not in ctx.data["installed"]:
            return Button("Install", ("install", title))
        first = Button("Update", ("update", title)) if title in ctx.data["updates"] else Button("Open", ("run", title))
        return ButtonRow((Button("Uninstall", ("dialog", "uninstall", {"title": title}), filled=False), first))

    # -- events

    def on_kind(self, ctx: Context, kind: str) -> None:
        ctx.ui["kind"] = kind
        ctx.frame["scroll"] = 0

    def on_section(self, ctx: Context, section: str) -> None:
        ctx.replace("manage" if section == "My apps" else "front")

    def on_submit(self, ctx: Context, key: str) -> None:
        query = ctx.field(key).strip()
        if query:
            ctx.data["recent"].append(query)
            ctx.fields.clear()
            ctx.unfocus()
            ctx.push("results", fields={"query": query}, query=query)

    def on_view(self, ctx: Context, title: str) -> None:
        ctx.push("detail", title=title)

    def on_run(self, ctx: Context, title: str) -> None:
        ctx.push("running", title=title)

    def on_install(self, ctx: Context, title: str) -> None:
        ctx.data["installed"].append(title)
        ctx.snack(f"{title} installed")

    def on_update(self, ctx: Context, title: str) -> None:
        ctx.data["updates"].remove(title)
        ctx.snack(f"{title} updated")

    def on_update_all(self, ctx: Context) -> None:
        ctx.data["updates"].clear()
        ctx.snack("All apps updated")

    def on_uninstall(self, ctx: Context, title: str) -> None:
        ctx.data["installed"].remove(title)
        if title in ctx.data["updates"]:
            ctx.data["updates"].remove(title)
        ctx.snack(f"{title} uninstalled")


def listing(data: Tree, title: str) -> Tree:
    found: Tree = next(app for app in data["apps"] if app["title"] == title)
    return found


def matching(apps: list[Tree], query: str) -> list[Tree]:
    """The apps that share a word with the query, among others of their kind; in the store's own order."""
    words = set(query.casefold().split())
    hits = [app for app in apps if words & set(app["title"].casefold().split())]
    kinds = {app["kind"] for app in hits} | {kind for kind in CATALOGUE if kind.casefold() in words}
    return [app for app in apps if app["kind"] in kinds]
