"""Tasks in the calendar."""

from __future__ import annotations

import random
from collections.abc import Callable

from distrl.devices.sim import vocabulary
from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, others, same
from distrl.types import Answer, Done, Tree

EVENTS = "calendar/events"
NUMBER = 500
"""Id of the event that a task is about, above those a phone has of itself."""
HOURS = ("10:00", "11:00", "12:00", "13:00", "14:00")


# --- start states -------------------------------------------------------------------------------


def not_planned(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("drop", EVENTS, {"title": params["title"]}),)


def planned(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """There is one event of this title, on another day than the wanted one."""
    day = rng.choice([d for d in vocabulary.DAYS if d != params.get("day")])
    hour, place = rng.randint(8, 20), rng.choice(vocabulary.PLACES)
    event = {"id": NUMBER, "title": params["title"], "day": day, "hour": hour, "place": place}
    return *not_planned(params, rng), ("add", EVENTS, event)


# --- rules --------------------------------------------------------------------------------------


def becomes(wanted: Callable[[Tree, Params], Tree | None]) -> Callable[[Ending], bool]:
    """The event is what `wanted` makes of the old one (None: gone); all others are as they were."""

    def check(ending: Ending) -> bool:
        before, after = ending.before["calendar"]["events"], ending.after["calendar"]["events"]
        old = find(before, id=NUMBER) or {}
        rest_kept = others(after, id=NUMBER) == others(before, id=NUMBER)
        return rest_kept and find(after, id=NUMBER) == wanted(old, ending.params)

    return check


def is_added(ending: Ending) -> bool:
    before, after = ending.before["calendar"]["events"], ending.after["calendar"]["events"]
    title, day, hour = ending.params["title"], ending.params["day"], int(ending.params["hour"][:2])
    new = find(after, title=title, day=day, hour=hour)
    return new is not None and others(after, id=new["id"]) == others(before)


def tells(read: Callable[[Tree], str]) -> Callable[[Ending], bool]:
    def check(ending: Ending) -> bool:
        event = find(ending.before["calendar"]["events"], id=NUMBER)
        return event is not None and same(ending.answer, read(event))

    return check


def time_of(event: Tree) -> str:
    return f"{event['hour']:02d}:00"


def day_of(event: Tree) -> str:
    return str(event["day"])


def place_of(event: Tree) -> str:
    return str(event["place"])


# --- oracles ------------------------------------------------------------------------------------


def open_event(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Calendar")
    yield from ui.tap(params["title"], "row")


def tell(read: Callable[[Tree], str]) -> Callable[[ScreenDriver, Params], Oracle]:
    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        yield from open_event(ui, params)
        event = find(ui.state["calendar"]["events"], id=NUMBER)
        assert event is not None
        yield from ui.reveal(read(event))
        yield Answer(read(event))

    return oracle


def picked_time(ui: ScreenDriver) -> str:
    """What stands between the picker's buttons; the status bar shows a time too."""
    minus, plus = ui.find("Decrease Time"), ui.find("Increase Time")
    assert minus is not None
    assert plus is not None
    return next(
        e.text
        for e in ui.screen.elements
        if minus.bounds[2] <= e.bounds[0]
        and e.bounds[2] <= plus.bounds[0]
        and minus.bounds[1] <= e.bounds[1] < minus.bounds[3]
    )


def add(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Calendar")
    yield from ui.tap("Add event")
    yield from ui.write("Title", params["title"], enter=True)
    if params["day"] != vocabulary.DAYS[0]:
        yield from ui.tap(params["day"][:3])
    while (shown := picked_time(ui)) != params["hour"]:
        yield from ui.tap("Increase Time" if shown < params["hour"] else "Decrease Time")
    yield from ui.tap("Save")
    yield Done()


def delete(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_event(ui, params)
    yield from ui.tap("Delete")
    yield from ui.tap("Delete", "button")
    yield Done()


def move(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_event(ui, params)
    yield from ui.tap("Move", "button")
    yield from ui.tap(params["day"][:3])
    yield from ui.tap("Save")
    yield Done()


TITLE = {"title": vocabulary.EVENTS}

TEMPLATES: tuple[Template, ...] = (
    Template(
        name="calendar/add",
        app="calendar",
        phrasings=(
            "Add an event called {title} on {day} at {hour}",
            "Put {title} into the calendar on {day} at {hour}",
            "Plan {title} for {day} at {hour} in the calendar",
        ),
        space={"title": vocabulary.EVENTS, "day": vocabulary.DAYS, "hour": HOURS},
        start=not_planned,
        check=is_added,
        oracle=add,
        max_steps=15,
        may_change=(EVENTS,),
    ),
    Template(
        name="calendar/delete",
        app="calendar",
        phrasings=(
            "Delete the event {title}",
            "Remove {title} from the calendar",
            "The {title} will not happen, delete it from the calendar",
        ),
        space=TITLE,
        start=planned,
        check=becomes(lambda old, params: None),
        oracle=delete,
        max_steps=13,
        may_change=(EVENTS,),
    ),
    Template(
        name="calendar/time",
        app="calendar",
        phrasings=(
            "At what time is the event {title}?",
            "When does {title} start? Answer with the time",
            "Look up {title} in the calendar and answer with the time",
        ),
        space=TITLE,
        start=planned,
        check=tells(time_of),
        oracle=tell(time_of),
        max_steps=12,
    ),
    Template(
        name="calendar/day",
        app="calendar",
        phrasings=(
            "On which day is the event {title}?",
            "Which day is {title}? Answer with the day",
            "Look up {title} in the calendar and answer with the day",
        ),
        space=TITLE,
        start=planned,
        check=tells(day_of),
        oracle=tell(day_of),
        max_steps=12,
    ),
    Template(
        name="calendar/place",
        app="calendar",
        phrasings=(
            "Where is the event {title}?",
            "At which place is {title}? Look in the calendar",
            "Look up {title} in the calendar and answer with the place",
        ),
        space=TITLE,
        start=planned,
        check=tells(place_of),
        oracle=tell(place_of),
        max_steps=12,
    ),
    Template(
        name="calendar/move",
        app="calendar",
        phrasings=(
            "Move the event {title} to {day}",
            "Change the day of {title} to {day} in the calendar",
            "The {title} will be on {day}, move it in the calendar",
        ),
        space={"title": vocabulary.EVENTS, "day": vocabulary.DAYS},
        start=planned,
        check=becomes(lambda old, params: {**old, "day": params["day"]}),
        oracle=move,
        max_steps=14,
        may_change=(EVENTS,),
        held_out=True,
    ),
)
