"""Short messages: one thread for each person."""

from __future__ import annotations

import random

from distrl.devices.sim import vocabulary
from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Bubble, Button, Dialog, Field, Icon, Page, Row, Text, Widget
from distrl.types import Tree


class Messages(App):
    """Data: {"threads": [{"name", "unread", "muted", "messages": [{"text", "mine"}, …]}, …]}, newest thread first."""

    id = "messages"
    title = "Messages"
    glyph = "message"
    colour = "#3d7be0"
    home = "threads"

    def seed(self, rng: random.Random) -> Tree:
        names = rng.sample(vocabulary.NAMES, rng.randint(6, 10))
        return {"threads": [thread_with(name, rng) for name in names]}

    # -- pages

    def page_threads(self, ctx: Context) -> Page:
        rows: tuple[Widget, ...] = tuple(
            Row(
                t["name"],
                t["messages"][-1]["text"] if t["messages"] else "",
                icon="bell off" if t["muted"] else "person",
                value="new" if t["unread"] else "",
                tap=("read", t["name"]),
                long=("dialog", "thread", {"name": t["name"]}),
            )
            for t in ctx.data["threads"]
        )
        return Page(
            "Messages",
            rows or (Text("No messages", "caption"),),
            fab=Icon("edit", "New message", ("push", "new", {})),
        )

    def page_thread(self, ctx: Context) -> Page:
        name = ctx.args["name"]
        thread = thread_of(ctx.data, name)
        bubbles: tuple[Widget, ...] = tuple(Bubble(m["text"], m["mine"]) for m in thread["messages"]) if thread else ()
        actions = (Icon("delete", "Delete", ("dialog", "delete", {"name": name})),) if thread else ()
        return Page(
            name,
            bubbles or (Text("No messages yet", "caption"),),
            actions=actions,
            footer=Field("message", "Message"),
        )

    def page_new(self, ctx: Context) -> Page:
        query = ctx.field("to").strip().casefold()
        names = sorted(p["name"] for p in ctx.state["contacts"]["people"])
        rows: tuple[Widget, ...] = tuple(
            Row(name, icon="person", tap=("write_to", name)) for name in names if query in name.casefold()
        )
        return Page("", rows or (Text("Nobody found", "caption"),), search=Field("to", "To"))

    # -- dialogs

    def dialog_thread(self, ctx: Context, name: str) -> Dialog:
        thread = thread_of(ctx.data, name) or {"unread": False, "muted": False}
        body = (
            Row("Mark as read" if thread["unread"] else "Mark as unread", icon="mail", tap=("flip", name, "unread")),
            Row("Unmute" if thread["muted"] else "Mute", icon="bell off", tap=("flip", name, "muted")),
            Row("Delete", icon="delete", tap=("dialog", "delete", {"name": name})),
        )
        return Dialog(name, body=body, buttons=(Button("Cancel", ("none",), filled=False),))

    def dialog_delete(self, ctx: Context, name: str) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Delete", ("delete", name)))
        return Dialog("Delete messages?", f"All messages with {name} will be lost.", buttons=buttons)

    # -- events

    def on_read(self, ctx: Context, name: str) -> None:
        if thread := thread_of(ctx.data, name):
            thread["unread"] = False
        ctx.push("thread", name=name)

    def on_write_to(self, ctx: Context, name: str) -> None:
        ctx.replace("thread", name=name)

    def on_flip(self, ctx: Context, name: str, key: str) -> None:
        ctx.close_dialog()
        if thread := thread_of(ctx.data, name):
            thread[key] = not thread[key]
            ctx.snack(f"{name} is now {key}" if thread[key] else f"{name} is not {key}")

    def on_delete(self, ctx: Context, name: str) -> None:
        ctx.data["threads"] = [t for t in ctx.data["threads"] if t["name"] != name]
        if ctx.frame["page"] == "thread":
            ctx.back()
        ctx.snack("Messages deleted")

    def on_submit(self, ctx: Context, key: str) -> None:
        if ctx.frame["page"] != "thread":
            ctx.unfocus()
            return
        text, name = ctx.field(key).strip(), ctx.args["name"]
        if not text:
            return
        thread = thread_of(ctx.data, name) or {"name": name, "unread": False, "muted": False, "messages": []}
        thread["messages"].append({"text": text, "mine": True})
        ctx.data["threads"] = [thread, *(t for t in ctx.data["threads"] if t is not thread)]
        ctx.fields[key] = ""
        ctx.unfocus()
        ctx.snack("Message sent")


def thread_of(data: Tree, name: str) -> Tree | None:
    return next((t for t in data["threads"] if t["name"] == name), None)


def thread_with(name: str, rng: random.Random) -> Tree:
    """A thread that ends with a message of the other side."""
    texts = rng.sample(vocabulary.SENTENCES, rng.randint(1, 4))
    messages = [{"text": text, "mine": rng.random() < 0.5} for text in texts]
    messages[-1]["mine"] = False
    return {"name": name, "unread": rng.random() < 0.3, "muted": rng.random() < 0.1, "messages": messages}
