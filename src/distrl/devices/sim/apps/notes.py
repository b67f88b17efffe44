"""Notes: texts and check lists, the pinned ones on top."""

from __future__ import annotations

import random

from distrl.devices.sim import vocabulary
from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Button, Check, Dialog, Field, Icon, Page, Row, Text, Widget
from distrl.types import Tree


class Notes(App):
    """Data: {"notes": [{"id", "title", "body", "pinned", "items": [{"text", "done"}, …]}, …]}, newest first.
    A note with items is a check list."""

    id = "notes"
    title = "Notes"
    glyph = "note"
    colour = "#d99a1c"
    home = "list"

    def seed(self, rng: random.Random) -> Tree:
        titles = rng.sample(vocabulary.NOTES, rng.randint(5, 8)) + rng.sample(vocabulary.LISTS, rng.randint(2, 4))
        rng.shuffle(titles)
        notes = [note(i, title, rng) for i, title in enumerate(titles)]
        rng.choice(notes)["pinned"] = True
        return {"notes": notes}

    # -- pages

    def page_list(self, ctx: Context) -> Page:
        notes = sorted(ctx.data["notes"], key=lambda n: not n["pinned"])
        return Page(
            "Notes",
            rows(notes) or (Text("No notes", "caption"),),
            actions=(Icon("search", "Search", ("push", "search", {})),),
            fab=Icon("add", "Add note", ("push", "add", {})),
        )

    def page_search(self, ctx: Context) -> Page:
        query = ctx.field("query").strip().casefold()
        found = [n for n in ctx.data["notes"] if query in n["title"].casefold()]
        return Page("", rows(found) or (Text("No notes", "caption"),), search=Field("query", "Search notes"))

    def page_note(self, ctx: Context) -> Page:
        n = note_of(ctx.data, ctx.args["id"])
        if n is None:
            return Page("Notes", (Text("This note is gone", "caption"),))
        number, pinned = n["id"], n["pinned"]
        checks = tuple(Check(item["text"], item["done"], ("tick", number, i)) for i, item in enumerate(n["items"]))
        return Page(
            n["title"],
            checks or (Text(n["body"]),),
            actions=(
                Icon("thumbtack off" if pinned else "thumbtack", "Unpin" if pinned else "Pin", ("pin", number)),
                Icon("delete", "Delete", ("dialog", "delete", {"number": number})),
            ),
            footer=Field("item", "Add item") if checks else None,
        )

    def page_add(self, ctx: Context) -> Page:
        return Page(
            "New note",
            (Field("title", "Title"), Field("body", "Text")),
            actions=(Icon("check", "Save", ("add",)),),
        )

    # -- dialogs

    def dialog_delete(self, ctx: Context, number: int) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Delete", ("delete", number)))
        n = note_of(ctx.data, number)
        return Dialog("Delete note?", n["title"] if n else "", buttons=buttons)

    # -- events

    def on_add(self, ctx: Context) -> None:
        title, body = ctx.field("title").strip(), ctx.field("body").strip()
        if not title:
            ctx.snack("A title is needed")
            return
        number = 1 + max((n["id"] for n in ctx.data["notes"]), default=0)
        new = {"id": number, "title": title, "body": body, "pinned": False, "items": []}
        ctx.data["notes"].insert(0, new)
        ctx.back()
        ctx.snack("Note saved")

    def on_pin(self, ctx: Context, number: int) -> None:
        if n := note_of(ctx.data, number):
            n["pinned"] = not n["pinned"]
            ctx.snack("Note pinned" if n["pinned"] else "Pin removed")

    def on_tick(self, ctx: Context, number: int, index: int) -> None:
        if n := note_of(ctx.data, number):
            n["items"][index]["done"] = not n["items"][index]["done"]

    def on_delete(self, ctx: Context, number: int) -> None:
        ctx.data["notes"] = [n for n in ctx.data["notes"] if n["id"] != number]
        ctx.back()
        ctx.snack("Note deleted")

    def on_submit(self, ctx: Context, key: str) -> None:
        ctx.frame["focus"] = "body" if key == "title" else ""
        text = ctx.field(key).strip()
        if key == "item" and text and (n := note_of(ctx.data, ctx.args["id"])):
            n["items"].append({"text": text, "done": False})
            ctx.fields[key] = ""
            ctx.snack("Item added")


def note_of(data: Tree, number: int) -> Tree | None:
    """None when it was deleted while a page below still shows it."""
    return next((n for n in data["notes"] if n["id"] == number), None)


def note(number: int, title: str, rng: random.Random) -> Tree:
    """A note with a chance text, or a check list where the title names one."""
    made: Tree = {"id": number, "title": title, "body": "", "pinned": False, "items": []}
    if title in vocabulary.LISTS:
        chosen = rng.sample(vocabulary.ITEMS, rng.randint(3, 6))
        made["items"] = [{"text": text, "done": rng.random() < 0.3} for text in chosen]
    else:
        made["body"] = rng.choice(vocabulary.SENTENCES)
    return made


def rows(notes: list[Tree]) -> tuple[Widget, ...]:
    return tuple(Row(n["title"], icon=glyph(n), tap=("push", "note", {"id": n["id"]})) for n in notes)


def glyph(n: Tree) -> str:
    if n["pinned"]:
        return "thumbtack"
    return "list" if n["items"] else "note"
