"""Tasks with short messages."""

from __future__ import annotations

import random

from distrl.devices.sim import vocabulary
from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, others, same
from distrl.types import Answer, Done, Press, Tree

THREADS = "messages/threads"


# --- start states -------------------------------------------------------------------------------


def thread(name: str, rng: random.Random, avoid: str = "", **flags: bool) -> Tree:
    """A read thread that ends with what the other side wrote; nobody in it said `avoid`."""
    texts = rng.sample([s for s in vocabulary.SENTENCES if s != avoid], rng.randint(1, 3))
    messages = [{"text": text, "mine": i % 2 == len(texts) % 2} for i, text in enumerate(texts)]
    return {"name": name, "unread": False, "muted": False, "messages": messages, **flags}


def no_thread(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """The person is known and nothing was ever written."""
    name = params["name"]
    return (
        ("drop", THREADS, {"name": name}),
        ("drop", "contacts/people", {"name": name}),
        ("add", "contacts/people", vocabulary.contact(name, rng)),
    )


def a_thread(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    name = params["name"]
    return ("drop", THREADS, {"name": name}), ("add", THREADS, thread(name, rng, params.get("text", "")))


def an_unread_thread(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    name = params["name"]
    return ("drop", THREADS, {"name": name}), ("add", THREADS, thread(name, rng, unread=True))


# --- rules --------------------------------------------------------------------------------------


def threads(ending: Ending) -> tuple[Tree | None, Tree | None]:
    """The person's thread before and after."""
    name = ending.params["name"]
    before, after = ending.before["messages"]["threads"], ending.after["messages"]["threads"]
    return find(before, name=name), find(after, name=name)


def others_kept(ending: Ending, *, ignoring: tuple[str, ...] = ("unread",)) -> bool:
    before, after = ending.before["messages"]["threads"], ending.after["messages"]["threads"]
    name = ending.params["name"]
    return others(after, ignoring, name=name) == others(before, ignoring, name=name)


def is_sent(ending: Ending) -> bool:
    """One message more, and it is the wanted one."""
    old, new = threads(ending)
    if new is None or not others_kept(ending):
        return False
    *earlier, last = new["messages"]
    return earlier == (old["messages"] if old else []) and last["mine"] and same(last["text"], ending.params["text"])


def is_deleted(ending: Ending) -> bool:
    return threads(ending)[1] is None and others_kept(ending)


def is_read(ending: Ending) -> bool:
    old, new = threads(ending)
    return old is not None and new == {**old, "unread": False} and others_kept(ending, ignoring=())


def is_muted(ending: Ending) -> bool:
    old, new = threads(ending)
    return old is not None and new is not None and others_kept(ending) and new == {**old, "muted": True}


def tells_last(ending: Ending) -> bool:
    """The answer is what the other side wrote last; nothing was done but reading."""
    old, new = threads(ending)
    return old is not None and new == old and others_kept(ending) and same(ending.answer, old["messages"][-1]["text"])


# --- oracles ------------------------------------------------------------------------------------


def open_thread(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Messages")
    yield from ui.tap(params["name"], "row")


def write(ui: ScreenDriver, text: str) -> Oracle:
    yield from ui.write("Message", text)
    yield Press("enter")
    yield from ui.clear_popups()
    yield Done()


def send(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_thread(ui, params)
    yield from write(ui, params["text"])


def start_thread(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Messages")
    yield from ui.tap("New message")
    yield from ui.tap(params["name"], "row")
    yield from write(ui, params["text"])


def delete(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_thread(ui, params)
    yield from ui.tap("Delete")
    yield from ui.tap("Delete", "button")
    yield Done()


def read(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_thread(ui, params)
    yield Done()


def mute(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Messages")
    yield from ui.long_press(params["name"], "row")
    yield from ui.tap("Mute", "row")
    yield Done()


def tell_last(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_thread(ui, params)
    found = find(ui.state["messages"]["threads"], name=params["name"])
    assert found is not None
    yield from ui.reveal(found["messages"][-1]["text"])
    yield Answer(found["messages"][-1]["text"])


NAME = {"name": vocabulary.NAMES}
NAME_AND_TEXT = {"name": vocabulary.NAMES, "text": vocabulary.SENTENCES}

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="messages/send",
        app="messages",
        phrasings=(
            "Send a message to {name} saying {text}",
            "Write {name} the message {text}",
            "Text {name}: {text}",
            "Answer the messages of {name} with {text}",
        ),
        space=NAME_AND_TEXT,
        start=a_thread,
        check=is_sent,
        oracle=send,
        max_steps=13,
        may_change=(THREADS,),
    ),
    Template(
        name="messages/start",
        app="messages",
        phrasings=(
            "Start a new message to {name} saying {text}",
            "Write a first message to {name}: {text}",
            "Send a new message with the text {text} to {name}",
        ),
        space=NAME_AND_TEXT,
        start=no_thread,
        check=is_sent,
        oracle=start_thread,
        max_steps=15,
        may_change=(THREADS,),
    ),
    Template(
        name="messages/delete",
        app="messages",
        phrasings=(
            "Delete the messages with {name}",
            "Remove all messages from {name}",
            "Delete the message thread with {name}",
        ),
        space=NAME,
        start=a_thread,
        check=is_deleted,
        oracle=delete,
        max_steps=12,
        may_change=(THREADS,),
    ),
    Template(
        name="messages/read",
        app="messages",
        phrasings=(
            "Read the new message from {name}",
            "Open the new message that {name} sent",
            "Mark the new message from {name} as read",
        ),
        space=NAME,
        start=an_unread_thread,
        check=is_read,
        oracle=read,
        max_steps=10,
        may_change=(THREADS,),
    ),
    Template(
        name="messages/last",
        app="messages",
        phrasings=(
            "What did {name} write last? Answer with the message",
            "What does the last message from {name} say?",
            "Answer with the last message that {name} sent",
        ),
        space=NAME,
        start=a_thread,
        check=tells_last,
        oracle=tell_last,
        max_steps=12,
        may_change=(THREADS,),
    ),
    Template(
        name="messages/mute",
        app="messages",
        phrasings=("Mute the messages from {name}", "Mute {name} in messages", "Mute the thread with {name}"),
        space=NAME,
        start=a_thread,
        check=is_muted,
        oracle=mute,
        max_steps=12,
        may_change=(THREADS,),
    ),
)
