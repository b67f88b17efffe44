"""Mail: an inbox to read, star and clear, and a page to write."""

from __future__ import annotations

import random

from distrl.devices.sim import vocabulary
from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Button, ButtonRow, Dialog, Field, Icon, Page, Row, Tabs, Text, Widget
from distrl.types import Tree

FOLDERS = ("Inbox", "Sent", "Archive", "Bin")


class Mail(App):
    """Data: {"mails": [{"id", "folder", "name", "subject", "body", "unread", "star"}, …]}, newest first.
    `name` is who wrote it, or to whom it was sent."""

    id = "mail"
    title = "Mail"
    glyph = "mail"
    colour = "#c8452f"
    home = "box"

    def seed(self, rng: random.Random) -> Tree:
        names = rng.sample(vocabulary.NAMES, rng.randint(8, 12))
        folders = ["Inbox"] * (len(names) - 3) + ["Sent", "Sent", "Archive"]
        mails = [letter(i, name, rng, folder) for i, (name, folder) in enumerate(zip(names, folders, strict=True))]
        for mail in mails:
            mail["unread"] = mail["folder"] == "Inbox" and rng.random() < 0.4
            mail["star"] = mail["folder"] != "Sent" and rng.random() < 0.15
        return {"mails": mails}

    # -- pages

    def page_box(self, ctx: Context) -> Page:
        tab = ctx.ui.get("tab", "Inbox")
        shown = [m for m in ctx.data["mails"] if is_in(m, tab)]
        return Page(
            "Mail",
            rows(shown),
            actions=(Icon("menu", "Folders", ("push", "folders", {})),),
            tabs=Tabs(("Inbox", "Starred", "Sent"), tab, "tab"),
            fab=Icon("edit", "Write", ("push", "write", {})),
        )

    def page_folders(self, ctx: Context) -> Page:
        counts = {f: sum(m["folder"] == f for m in ctx.data["mails"]) for f in FOLDERS}
        return Page(
            "Folders",
            tuple(Row(f, icon="folder", value=str(counts[f]), tap=("push", "folder", {"name": f})) for f in FOLDERS),
        )

    def page_folder(self, ctx: Context) -> Page:
        name = ctx.args["name"]
        return Page(name, rows([m for m in ctx.data["mails"] if m["folder"] == name]))

    def page_mail(self, ctx: Context) -> Page:
        mail = mail_of(ctx.data, ctx.args["id"])
        number, starred = mail["id"], mail["star"]
        sent = mail["folder"] == "Sent"
        buttons = (
            Button("Reply", ("push", "reply", {"id": number})),
            Button("Mark unread", ("mark_unread", number), filled=False),
        )
        return Page(
            "Mail",
            (
                Text(mail["subject"], "title"),
                Row(
                    f"To {mail['name']}" if sent else mail["name"], vocabulary.mail_address(mail["name"]), icon="person"
                ),
                Text(mail["body"]),
                *(() if sent else (ButtonRow(buttons),)),
            ),
            actions=(
                Icon("star" if starred else "star outline", "Unstar" if starred else "Star", ("star", number)),
                Icon("archive", "Archive", ("file", number, "Archive")),
                Icon("delete", "Delete", ("dialog", "delete", {"number": number})),
            ),
        )

    def page_write(self, ctx: Context) -> Page:
        return Page(
            "New mail",
            (Field("to", "To"), Field("subject", "Subject"), Field("body", "Text")),
            actions=(Icon("send", "Send", ("send",)),),
        )

    def page_reply(self, ctx: Context) -> Page:
        mail = mail_of(ctx.data, ctx.args["id"])
        return Page(
            f"To {mail['name']}",
            (Text(f"Re {mail['subject']}", "heading"), Field("body", "Text"), Text(mail["body"], "caption")),
            actions=(Icon("send", "Send", ("answer", mail["id"])),),
        )

    # -- dialogs

    def dialog_delete(self, ctx: Context, number: int) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Delete", ("file", number, "Bin")))
        return Dialog("Delete mail?", "It goes to the bin.", buttons=buttons)

    # -- events

    def on_tab(self, ctx: Context, name: str) -> None:
        ctx.ui["tab"] = name
        ctx.frame["scroll"] = 0

    def on_read(self, ctx: Context, number: int) -> None:
        mail_of(ctx.data, number)["unread"] = False
        ctx.push("mail", id=number)

    def on_star(self, ctx: Context, number: int) -> None:
        mail = mail_of(ctx.data, number)
        mail["star"] = not mail["star"]
        ctx.snack("Mail starred" if mail["star"] else "Star removed")

    def on_file(self, ctx: Context, number: int, folder: str) -> None:
        mail_of(ctx.data, number)["folder"] = folder
        ctx.back()
        ctx.snack("Mail deleted" if folder == "Bin" else "Mail archived")

    def on_mark_unread(self, ctx: Context, number: int) -> None:
        mail_of(ctx.data, number)["unread"] = True
        ctx.back()
        ctx.snack("Marked as unread")

    def on_send(self, ctx: Context) -> None:
        name = ctx.field("to").strip()
        if not name:
            ctx.snack("Whom is it for?")
            return
        self._post(ctx, name, ctx.field("subject").strip() or "No subject")

    def on_answer(self, ctx: Context, number: int) -> None:
        mail = mail_of(ctx.data, number)
        self._post(ctx, mail["name"], f"Re {mail['subject']}")

    def _post(self, ctx: Context, name: str, subject: str) -> None:
        number = 1 + max((m["id"] for m in ctx.data["mails"]), default=0)
        mail = letter_to(number, name, subject, ctx.field("body").strip())
        ctx.data["mails"].insert(0, mail)
        ctx.back()
        ctx.snack("Mail sent")

    def on_submit(self, ctx: Context, key: str) -> None:
        following = {"to": "subject", "subject": "body"}
        ctx.frame["focus"] = following.get(key, "")


def is_in(mail: Tree, tab: str) -> bool:
    if tab == "Starred":
        return bool(mail["star"]) and mail["folder"] != "Bin"
    return bool(mail["folder"] == tab)


def mail_of(data: Tree, number: int) -> Tree:
    mail: Tree = next(m for m in data["mails"] if m["id"] == number)
    return mail


def rows(mails: list[Tree]) -> tuple[Widget, ...]:
    listed = tuple(
        Row(
            m["name"],
            m["subject"],
            icon="star" if m["star"] else "mail",
            value="new" if m["unread"] else "",
            tap=("read", m["id"]),
        )
        for m in mails
    )
    return listed or (Text("No mail here", "caption"),)


def letter(number: int, name: str, rng: random.Random, folder: str = "Inbox") -> Tree:
    """A mail with a chance subject and text, read and without a star."""
    subject, body = rng.choice(vocabulary.SUBJECTS), rng.choice(vocabulary.SENTENCES)
    return {**letter_to(number, name, subject, body), "folder": folder}


def letter_to(number: int, name: str, subject: str, body: str) -> Tree:
    return {
        "id": number,
        "folder": "Sent",
        "name": name,
        "subject": subject,
        "body": body,
        "unread": False,
        "star": False,
    }
