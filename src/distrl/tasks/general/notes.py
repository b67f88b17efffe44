"""Tasks with notes and check lists."""

from __future__ import annotations

import random
from collections.abc import Callable

from distrl.devices.sim import vocabulary
from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, others, same
from distrl.types import Answer, Done, Press, Tree

NOTES = "notes/notes"
NUMBER = 500
"""Id of the note that a task is about, above those a phone has of itself."""


# --- start states -------------------------------------------------------------------------------


def no_note(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("drop", NOTES, {"title": params["title"]}),)


def a_note(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """One text note of this title, not pinned."""
    body = rng.choice(vocabulary.SENTENCES)
    note = {"id": NUMBER, "title": params["title"], "body": body, "pinned": False, "items": []}
    return *no_note(params, rng), ("add", NOTES, note)


def a_list(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """One check list of this title that has the item, not ticked."""
    return _list(params, rng, [{"text": params["item"], "done": False}])


def a_list_without(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return _list(params, rng, [])


def _list(params: Params, rng: random.Random, items: list[Tree]) -> tuple[Edit, ...]:
    more = rng.sample([i for i in vocabulary.ITEMS if i != params["item"]], rng.randint(2, 4))
    items = [*items, *({"text": text, "done": rng.random() < 0.3} for text in more)]
    rng.shuffle(items)
    note = {"id": NUMBER, "title": params["title"], "body": "", "pinned": False, "items": items}
    return *no_note(params, rng), ("add", NOTES, note)


# --- rules --------------------------------------------------------------------------------------


def becomes(wanted: Callable[[Tree, Params], Tree | None]) -> Callable[[Ending], bool]:
    """The note is what `wanted` makes of the old one (None: gone); all others are as they were."""

    def check(ending: Ending) -> bool:
        before, after = ending.before["notes"]["notes"], ending.after["notes"]["notes"]
        old = find(before, id=NUMBER) or {}
        rest_kept = others(after, id=NUMBER) == others(before, id=NUMBER)
        return rest_kept and find(after, id=NUMBER) == wanted(old, ending.params)

    return check


def is_added(ending: Ending) -> bool:
    before, after = ending.before["notes"]["notes"], ending.after["notes"]["notes"]
    new = find(after, title=ending.params["title"], body=ending.params["text"])
    return new is not None and others(after, id=new["id"]) == others(before)


def ticked(old: Tree, params: Params) -> Tree:
    items = [{**i, "done": True} if i["text"] == params["item"] else i for i in old["items"]]
    return {**old, "items": items}


def is_longer(ending: Ending) -> bool:
    """The list has the item at its end."""
    note = find(ending.after["notes"]["notes"], id=NUMBER)
    if note is None or not note["items"] or not same(note["items"][-1]["text"], ending.params["item"]):
        return False
    return becomes(lambda old, params: {**old, "items": [*old["items"], note["items"][-1]]})(ending)


def tells_body(ending: Ending) -> bool:
    note = find(ending.before["notes"]["notes"], id=NUMBER)
    return note is not None and same(ending.answer, note["body"])


# --- oracles ------------------------------------------------------------------------------------


def open_note(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Notes")
    yield from ui.tap(params["title"], "row")


def add(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Notes")
    yield from ui.tap("Add note")
    yield from ui.write("Title", params["title"])
    yield from ui.write("Text", params["text"])
    yield from ui.tap("Save")
    yield Done()


def delete(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_note(ui, params)
    yield from ui.tap("Delete")
    yield from ui.tap("Delete", "button")
    yield Done()


def pin(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_note(ui, params)
    yield from ui.tap("Pin")
    yield Done()


def tick(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_note(ui, params)
    yield from ui.tap(params["item"])
    yield Done()


def add_item(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_note(ui, params)
    yield from ui.write("Add item", params["item"])
    yield Press("enter")
    yield from ui.clear_popups()
    yield Done()


def tell_body(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_note(ui, params)
    note = find(ui.state["notes"]["notes"], id=NUMBER)
    assert note is not None
    yield from ui.reveal(note["body"])
    yield Answer(note["body"])


TITLE = {"title": vocabulary.NOTES}
LIST_AND_ITEM = {"title": vocabulary.LISTS, "item": vocabulary.ITEMS}

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="notes/add",
        app="notes",
        phrasings=(
            "Add a note called {title} with the text {text}",
            "Write a new note {title} saying {text}",
            "Make a note with the title {title} and the text {text}",
        ),
        space={"title": vocabulary.NOTES, "text": vocabulary.SENTENCES},
        start=no_note,
        check=is_added,
        oracle=add,
        max_steps=15,
        may_change=(NOTES,),
    ),
    Template(
        name="notes/delete",
        app="notes",
        phrasings=("Delete the note {title}", "Remove the note called {title}", "Throw away my note {title}"),
        space=TITLE,
        start=a_note,
        check=becomes(lambda old, params: None),
        oracle=delete,
        max_steps=12,
        may_change=(NOTES,),
    ),
    Template(
        name="notes/pin",
        app="notes",
        phrasings=(
            "Pin the note {title}",
            "Put a pin on the note called {title}",
            "Keep the note {title} on top, pin it",
        ),
        space=TITLE,
        start=a_note,
        check=becomes(lambda old, params: {**old, "pinned": True}),
        oracle=pin,
        max_steps=12,
        may_change=(NOTES,),
    ),
    Template(
        name="notes/body",
        app="notes",
        phrasings=(
            "What does the note {title} say?",
            "Open the note {title} and answer with its text",
            "Answer with the text of the note called {title}",
        ),
        space=TITLE,
        start=a_note,
        check=tells_body,
        oracle=tell_body,
        max_steps=12,
    ),
    Template(
        name="notes/tick",
        app="notes",
        phrasings=(
            "Tick {item} on the list {title}",
            "Check {item} off in the note {title}",
            "Mark {item} as done on the {title} list",
        ),
        space=LIST_AND_ITEM,
        start=a_list,
        check=becomes(ticked),
        oracle=tick,
        max_steps=12,
        may_change=(NOTES,),
    ),
    Template(
        name="notes/item",
        app="notes",
        phrasings=(
            "Add {item} to the list {title}",
            "Put {item} on the {title} list",
            "The {title} list needs {item}, add it",
        ),
        space=LIST_AND_ITEM,
        start=a_list_without,
        check=is_longer,
        oracle=add_item,
        max_steps=13,
        may_change=(NOTES,),
    ),
)
