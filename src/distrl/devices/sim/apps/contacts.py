"""The address book: whom the owner of the phone knows."""

from __future__ import annotations

import random

from distrl.devices.sim import vocabulary
from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Button, ButtonRow, Check, Dialog, Field, Icon, Page, Row, Tabs, Text, Widget
from distrl.types import Tree


class Contacts(App):
    """Data: {"people": [{"name", "phone", "mail", "city", "star"}, …]}; a name is unique."""

    id = "contacts"
    title = "Contacts"
    glyph = "contacts"
    colour = "#1e88a8"
    home = "list"

    def seed(self, rng: random.Random) -> Tree:
        known = rng.sample(vocabulary.NAMES, rng.randint(12, 17))
        entries = [vocabulary.contact(name, rng) for name in known]
        for entry in rng.sample(entries, rng.randint(1, 3)):
            entry["star"] = True
        return {"people": entries}

    # -- pages

    def page_list(self, ctx: Context) -> Page:
        tab = ctx.ui.get("tab", "All")
        shown = [p for p in by_name(ctx.data["people"]) if tab == "All" or p["star"]]
        return Page(
            "Contacts",
            rows(shown) or (Text("No contacts here", "caption"),),
            actions=(Icon("search", "Search", ("push", "search", {})),),
            tabs=Tabs(("All", "Starred"), tab, "tab"),
            fab=Icon("add", "Add contact", ("push", "add", {})),
        )

    def page_search(self, ctx: Context) -> Page:
        query = ctx.field("query").strip().casefold()
        found = [p for p in by_name(ctx.data["people"]) if query in p["name"].casefold()]
        return Page("", rows(found) or (Text("Nobody found", "caption"),), search=Field("query", "Search contacts"))

    def page_person(self, ctx: Context) -> Page:
        entry = person(ctx.data, ctx.args["name"])
        if entry is None:
            return Page(ctx.args["name"], (Text("Not in your contacts", "caption"),))
        name, starred = entry["name"], entry["star"]
        return Page(
            name,
            (
                Row("Phone", entry["phone"], icon="phone"),
                Row("Mail", entry["mail"], icon="mail"),
                Row("City", entry["city"], icon="pin", tap=("push", "city", {"name": name})),
                ButtonRow(
                    (
                        Button("Message", ("open", "messages", "thread", {"name": name})),
                        Button("Edit", ("edit", name), filled=False),
                    )
                ),
            ),
            actions=(
                Icon("star" if starred else "star outline", "Unstar" if starred else "Star", ("star", name)),
                Icon("delete", "Delete", ("dialog", "delete", {"name": name})),
            ),
        )

    def page_add(self, ctx: Context) -> Page:
        return self._form("New contact", ("add",))

    def page_edit(self, ctx: Context) -> Page:
        return self._form(f"Edit {ctx.args['name']}", ("change", ctx.args["name"]))

    def _form(self, title: str, save: tuple[str, ...]) -> Page:
        fields: tuple[Widget, ...] = (Field("name", "Name", "person"), Field("phone", "Phone", "phone"))
        return Page(title, fields, actions=(Icon("check", "Save", save),))

    def page_city(self, ctx: Context) -> Page:
        name = ctx.args["name"]
        entry = person(ctx.data, name)
        city = entry["city"] if entry else ""
        return Page("City", tuple(Check(c, c == city, ("move", name, c), radio=True) for c in vocabulary.CITIES))

    # -- dialogs

    def dialog_delete(self, ctx: Context, name: str) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Delete", ("delete", name)))
        return Dialog("Delete contact?", f"{name} will be removed.", buttons=buttons)

    # -- events

    def on_tab(self, ctx: Context, name: str) -> None:
        ctx.ui["tab"] = name
        ctx.frame["scroll"] = 0

    def on_star(self, ctx: Context, name: str) -> None:
        if entry := person(ctx.data, name):
            entry["star"] = not entry["star"]
            ctx.snack(f"{name} starred" if entry["star"] else f"{name} not starred")

    def on_delete(self, ctx: Context, name: str) -> None:
        ctx.data["people"] = [p for p in ctx.data["people"] if p["name"] != name]
        ctx.back()
        ctx.snack(f"{name} deleted")

    def on_edit(self, ctx: Context, name: str) -> None:
        if entry := person(ctx.data, name):
            ctx.push("edit", fields={"name": name, "phone": entry["phone"]}, name=name)

    def on_move(self, ctx: Context, name: str, city: str) -> None:
        if entry := person(ctx.data, name):
            ctx.back()
            entry["city"] = city
            ctx.snack("City changed")

    def on_add(self, ctx: Context) -> None:
        name = ctx.field("name").strip()
        if not self._accepts(ctx, name):
            return
        entry = {"name": name, "phone": ctx.field("phone").strip(), "mail": "", "city": "", "star": False}
        ctx.data["people"].append(entry)
        ctx.replace("person", name=name)
        ctx.snack("Contact saved")

    def on_change(self, ctx: Context, old_name: str) -> None:
        name, entry = ctx.field("name").strip(), person(ctx.data, old_name)
        if entry is None or (name != old_name and not self._accepts(ctx, name)):
            return
        entry.update(name=name, phone=ctx.field("phone").strip())
        ctx.back()
        ctx.state["os"]["stack"][-1]["args"]["name"] = name
        ctx.snack("Contact saved")

    def on_submit(self, ctx: Context, key: str) -> None:
        ctx.frame["focus"] = "phone" if key == "name" else ""

    def _accepts(self, ctx: Context, name: str) -> bool:
        if not name:
            ctx.snack("A name is needed")
        elif person(ctx.data, name) is not None:
            ctx.snack("That name is taken")
        else:
            return True
        return False


def by_name(entries: list[Tree]) -> list[Tree]:
    return sorted(entries, key=lambda p: p["name"].casefold())


def person(data: Tree, name: str) -> Tree | None:
    return next((p for p in data["people"] if p["name"].casefold() == name.casefold()), None)


def rows(entries: list[Tree]) -> tuple[Widget, ...]:
    return tuple(
        Row(p["name"], icon="star" if p["star"] else "person", tap=("push", "person", {"name": p["name"]}))
        for p in entries
    )
