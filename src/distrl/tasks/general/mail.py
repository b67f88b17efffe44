"""Tasks with mail."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from distrl.devices.sim import vocabulary
from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, others, same
from distrl.types import Answer, Done, Tree

MAILS = "mail/mails"
NUMBER = 500
"""Id of the mail that a task is about, above those a phone has of itself."""


# --- start states -------------------------------------------------------------------------------


def letter(params: Params, rng: random.Random) -> Tree:
    return {
        "id": NUMBER,
        "folder": "Inbox",
        "name": params["name"],
        "subject": rng.choice(vocabulary.SUBJECTS),
        "body": rng.choice(vocabulary.SENTENCES),
        "unread": False,
        "star": False,
    }


def inbox_with(**values: Any) -> Callable[[Params, random.Random], tuple[Edit, ...]]:
    """The inbox holds one mail from the person, with these values."""

    def start(params: Params, rng: random.Random) -> tuple[Edit, ...]:
        return *no_mail(params, rng), ("add", MAILS, {**letter(params, rng), **values})

    return start


def no_mail(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """There is no mail from or to the person."""
    return (("drop", MAILS, {"name": params["name"]}),)


# --- rules --------------------------------------------------------------------------------------


def becomes(ignoring: tuple[str, ...] = ("unread",), **values: Any) -> Callable[[Ending], bool]:
    """The mail has these values now; all else is as it was."""

    def check(ending: Ending) -> bool:
        before, after = ending.before["mail"]["mails"], ending.after["mail"]["mails"]
        mail = find(after, id=NUMBER)
        old = find(before, id=NUMBER)
        if mail is None or old is None or others(after, ignoring, id=NUMBER) != others(before, ignoring, id=NUMBER):
            return False
        return others([mail], ignoring) == others([{**old, **values}], ignoring)

    return check


def is_posted(**wanted: str) -> Callable[[Ending], bool]:
    """One mail more, sent to the person; `wanted` maps its keys to the parameters they must equal."""

    def check(ending: Ending) -> bool:
        before, after = ending.before["mail"]["mails"], ending.after["mail"]["mails"]
        known = {mail["id"] for mail in before}
        new = [mail for mail in after if mail["id"] not in known]
        if len(new) != 1 or others([m for m in after if m not in new]) != others(before):
            return False
        keys = {key: ending.params[param] for key, param in wanted.items()}
        return new[0]["folder"] == "Sent" and find(new, name=ending.params["name"], **keys) is not None

    return check


def tells(key: str) -> Callable[[Ending], bool]:
    """The answer is what the mail says; nothing was done but reading."""

    def check(ending: Ending) -> bool:
        before, after = ending.before["mail"]["mails"], ending.after["mail"]["mails"]
        mail = find(before, id=NUMBER)
        return mail is not None and same(ending.answer, mail[key]) and others(after) == others(before)

    return check


# --- oracles ------------------------------------------------------------------------------------


def open_mail(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Mail")
    yield from ui.tap(params["name"], "row")


def then_tap(*labels: str) -> Callable[[ScreenDriver, Params], Oracle]:
    """Open the mail and tap these, the last of several being a dialog's button."""

    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        yield from open_mail(ui, params)
        for place, label in enumerate(labels):
            yield from ui.tap(label, "button" if place else "")
        yield Done()

    return oracle


def tell_body(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_mail(ui, params)
    mail = find(ui.state["mail"]["mails"], id=NUMBER)
    assert mail is not None
    yield from ui.reveal(mail["body"])
    yield Answer(mail["body"])


def tell_subject(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Mail")
    yield from ui.reveal(params["name"], "row")
    mail = find(ui.state["mail"]["mails"], id=NUMBER)
    assert mail is not None
    yield Answer(mail["subject"])


def write(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Mail")
    yield from ui.tap("Write")
    yield from ui.write("To", params["name"])
    yield from ui.write("Subject", params["subject"])
    yield from ui.tap("Send")
    yield Done()


def reply(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_mail(ui, params)
    yield from ui.tap("Reply", "button")
    yield from ui.write("Text", params["text"])
    yield from ui.tap("Send")
    yield Done()


NAME = {"name": vocabulary.NAMES}

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="mail/star",
        app="mail",
        phrasings=(
            "Star the mail from {name}",
            "Give the mail from {name} a star",
            "Put a star on the mail from {name}",
        ),
        space=NAME,
        start=inbox_with(),
        check=becomes(star=True),
        oracle=then_tap("Star"),
        max_steps=12,
        may_change=(MAILS,),
    ),
    Template(
        name="mail/archive",
        app="mail",
        phrasings=(
            "Archive the mail from {name}",
            "Put the mail from {name} into the archive",
            "Move the mail that {name} sent to the archive",
        ),
        space=NAME,
        start=inbox_with(),
        check=becomes(folder="Archive"),
        oracle=then_tap("Archive"),
        max_steps=12,
        may_change=(MAILS,),
    ),
    Template(
        name="mail/delete",
        app="mail",
        phrasings=(
            "Delete the mail from {name}",
            "Remove the mail that {name} sent",
            "Throw away the mail from {name}",
        ),
        space=NAME,
        start=inbox_with(),
        check=becomes(folder="Bin"),
        oracle=then_tap("Delete", "Delete"),
        max_steps=12,
        may_change=(MAILS,),
    ),
    Template(
        name="mail/body",
        app="mail",
        phrasings=(
            "What does the mail from {name} say?",
            "Open the mail from {name} and answer with its text",
            "Answer with the text of the mail from {name}",
        ),
        space=NAME,
        start=inbox_with(unread=True),
        check=tells("body"),
        oracle=tell_body,
        max_steps=12,
        may_change=(MAILS,),
    ),
    Template(
        name="mail/subject",
        app="mail",
        phrasings=(
            "What is the subject of the mail from {name}?",
            "Answer with the subject of the mail from {name}",
            "Which subject does the mail from {name} have?",
        ),
        space=NAME,
        start=inbox_with(unread=True),
        check=tells("subject"),
        oracle=tell_subject,
        max_steps=12,
        may_change=(MAILS,),
    ),
    Template(
        name="mail/write",
        app="mail",
        phrasings=(
            "Write a mail to {name} with the subject {subject}",
            "Send {name} a mail with the subject {subject}",
            "Mail {name}, the subject is {subject}",
        ),
        space={"name": vocabulary.NAMES, "subject": vocabulary.SUBJECTS},
        start=no_mail,
        check=is_posted(subject="subject"),
        oracle=write,
        max_steps=15,
        may_change=(MAILS,),
    ),
    Template(
        name="mail/reply",
        app="mail",
        phrasings=(
            "Reply to the mail from {name} with {text}",
            "Answer the mail from {name} saying {text}",
            "Write {text} as a reply to the mail from {name}",
        ),
        space={"name": vocabulary.NAMES, "text": vocabulary.SENTENCES},
        start=inbox_with(),
        check=is_posted(body="text"),
        oracle=reply,
        max_steps=15,
        may_change=(MAILS,),
    ),
    Template(
        name="mail/unread",
        app="mail",
        phrasings=(
            "Mark the mail from {name} as unread",
            "Make the mail from {name} unread again",
            "Set the mail that {name} sent to unread",
        ),
        space=NAME,
        start=inbox_with(),
        check=becomes(ignoring=(), unread=True),
        oracle=then_tap("Mark unread"),
        max_steps=12,
        may_change=(MAILS,),
        held_out=True,
    ),
)
