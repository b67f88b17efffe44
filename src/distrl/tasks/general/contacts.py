"""Tasks in the address book."""

from __future__ import annotations

import random
from collections.abc import Callable

from distrl.devices.sim import vocabulary
from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, others, same
from distrl.types import Answer, Done, Tree

PEOPLE = "contacts/people"
NUMBERS = ("555-0142", "555-0318", "555-0467", "555-0590", "555-0623", "555-0771", "555-0809", "555-0934")


# --- start states -------------------------------------------------------------------------------


def unknown(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("drop", PEOPLE, {"name": params["name"]}),)


def known(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """The person is in the address book, without a star."""
    return *unknown(params, rng), ("add", PEOPLE, vocabulary.contact(params["name"], rng))


def starred(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return *unknown(params, rng), ("add", PEOPLE, {**vocabulary.contact(params["name"], rng), "star": True})


def lives_elsewhere(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    city = rng.choice([c for c in vocabulary.CITIES if c != params["city"]])
    return *unknown(params, rng), ("add", PEOPLE, {**vocabulary.contact(params["name"], rng), "city": city})


# --- rules --------------------------------------------------------------------------------------


def becomes(wanted: Callable[[Tree, Params], Tree | None]) -> Callable[[Ending], bool]:
    """The person's entry is what `wanted` makes of the old one (None: gone); all others are as they were."""

    def check(ending: Ending) -> bool:
        name, before, after = ending.params["name"], ending.before["contacts"], ending.after["contacts"]
        old = find(before["people"], name=name) or {}
        rest_kept = others(after["people"], name=name) == others(before["people"], name=name)
        return rest_kept and find(after["people"], name=name) == wanted(old, ending.params)

    return check


def answers(key: str) -> Callable[[Ending], bool]:
    """The answer is what the person's entry says."""

    def check(ending: Ending) -> bool:
        entry = find(ending.before["contacts"]["people"], name=ending.params["name"])
        return entry is not None and same(ending.answer, entry[key])

    return check


def is_added(ending: Ending) -> bool:
    name, number = ending.params["name"], ending.params["number"]
    before, after = ending.before["contacts"]["people"], ending.after["contacts"]["people"]
    return find(after, name=name, phone=number) is not None and others(after, name=name) == others(before)


# --- oracles ------------------------------------------------------------------------------------


def open_person(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Contacts")
    yield from ui.tap(params["name"], "row")


def look_up(key: str) -> Callable[[ScreenDriver, Params], Oracle]:
    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        yield from open_person(ui, params)
        entry = find(ui.state["contacts"]["people"], name=params["name"])
        assert entry is not None
        yield from ui.reveal(entry[key])
        yield Answer(entry[key])

    return oracle


def flip_star(label: str) -> Callable[[ScreenDriver, Params], Oracle]:
    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        yield from open_person(ui, params)
        yield from ui.tap(label)
        yield Done()

    return oracle


def delete(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_person(ui, params)
    yield from ui.tap("Delete")
    yield from ui.tap("Delete", "button")
    yield Done()


def add(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Contacts")
    yield from ui.tap("Add contact")
    yield from ui.write("Name", params["name"])
    yield from ui.write("Phone", params["number"])
    yield from ui.tap("Save")
    yield Done()


def move(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_person(ui, params)
    yield from ui.tap("City", "row")
    yield from ui.tap(params["city"])
    yield Done()


def show(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_person(ui, params)
    yield Done()


NAME = {"name": vocabulary.NAMES}

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="contacts/show",
        app="contacts",
        phrasings=(
            "Open {name} in contacts",
            "Show the contact page of {name}",
            "Go to contacts and open the page of {name}",
        ),
        space=NAME,
        start=known,
        check=lambda ending: ending.shows("contacts", "person", name=ending.params["name"]),
        oracle=show,
        max_steps=10,
    ),
    Template(
        name="contacts/phone",
        app="contacts",
        phrasings=(
            "What is the phone number of {name}?",
            "Look up {name} in contacts and answer with the phone number",
            "Which number does {name} have?",
        ),
        space=NAME,
        start=known,
        check=answers("phone"),
        oracle=look_up("phone"),
        max_steps=12,
    ),
    Template(
        name="contacts/city",
        app="contacts",
        phrasings=(
            "Which city does {name} live in?",
            "Look up {name} in contacts and answer with the city",
            "Where does {name} live? Answer with the city",
        ),
        space=NAME,
        start=known,
        check=answers("city"),
        oracle=look_up("city"),
        max_steps=12,
    ),
    Template(
        name="contacts/star",
        app="contacts",
        phrasings=("Star {name} in contacts", "Give the contact {name} a star", "Make {name} a starred contact"),
        space=NAME,
        start=known,
        check=becomes(lambda old, params: {**old, "star": True}),
        oracle=flip_star("Star"),
        max_steps=12,
        may_change=(PEOPLE,),
    ),
    Template(
        name="contacts/unstar",
        app="contacts",
        phrasings=(
            "Remove the star from {name} in contacts",
            "Take the star away from the contact {name}",
            "The contact {name} needs no star any more, remove it",
        ),
        space=NAME,
        start=starred,
        check=becomes(lambda old, params: {**old, "star": False}),
        oracle=flip_star("Unstar"),
        max_steps=12,
        may_change=(PEOPLE,),
    ),
    Template(
        name="contacts/delete",
        app="contacts",
        phrasings=("Delete the contact {name}", "Remove {name} from contacts", "Delete {name} from the contacts"),
        space=NAME,
        start=known,
        check=becomes(lambda old, params: None),
        oracle=delete,
        max_steps=13,
        may_change=(PEOPLE,),
    ),
    Template(
        name="contacts/add",
        app="contacts",
        phrasings=(
            "Add {name} to contacts with the number {number}",
            "Make a new contact {name} with the phone number {number}",
            "Save the number {number} of {name} as a new contact",
        ),
        space={"name": vocabulary.NAMES, "number": NUMBERS},
        start=unknown,
        check=is_added,
        oracle=add,
        max_steps=15,
        may_change=(PEOPLE,),
    ),
    Template(
        name="contacts/move",
        app="contacts",
        phrasings=(
            "Change the city of {name} to {city} in contacts",
            "{name} lives in {city} now, change the contact",
            "Set the city of the contact {name} to {city}",
        ),
        space={"name": vocabulary.NAMES, "city": vocabulary.CITIES},
        start=lives_elsewhere,
        check=becomes(lambda old, params: {**old, "city": params["city"]}),
        oracle=move,
        max_steps=15,
        may_change=(PEOPLE,),
        held_out=True,
    ),
)
