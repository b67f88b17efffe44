"""Tasks in the weather app, which no training task touches."""

from __future__ import annotations

import random
from collections.abc import Callable

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, others, same
from distrl.types import Answer, Done, Tree

CITIES = (
    "Athens", "Berlin", "Dublin", "Lisbon", "London", "Madrid", "Oslo", "Paris", "Prague", "Rome", "Tokyo", "Vienna",
    "Cairo", "Lima", "Moscow", "Nairobi", "Bangkok", "Delhi",
)  # fmt: skip
SKIES = ("Sunny", "Cloudy", "Rain", "Snow", "Storm", "Fog", "Windy", "Clear")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
UNITS = ("Celsius", "Fahrenheit")
CITY = {"city": CITIES}
LISTED = "weather/cities"


# --- start states -------------------------------------------------------------------------------


def unlisted(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return (("drop", LISTED, {"name": params["city"]}),)


def listed(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """The city is in the list; seen from today, every day of the week is today or ahead."""
    today = rng.randrange(7)
    if "day" in params:  # a forecast begins with tomorrow
        today = rng.choice([i for i, day in enumerate(DAYS) if day != params["day"]])
    low = rng.randint(-5, 22)
    days = [
        {"day": DAYS[(today + ahead) % 7], "sky": rng.choice(SKIES), "high": low + rng.randint(3, 14)}
        for ahead in range(1, 7)
    ]
    city = {
        "name": params["city"],
        "now": low + rng.randint(0, 4),
        "high": low + rng.randint(5, 12),
        "low": low,
        "sky": rng.choice(SKIES),
        "wind": rng.randint(2, 60),
        "rain": rng.randint(0, 10) * 10,
        "days": days,
    }
    return *unlisted(params, rng), ("add", LISTED, city)


def in_the_other_unit(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    other = next(unit for unit in UNITS if unit != params["unit"])
    return *listed(params, rng), ("set", "weather/unit", other)


# --- rules --------------------------------------------------------------------------------------


def is_added(ending: Ending) -> bool:
    name, before, after = ending.params["city"], ending.before["weather"], ending.after["weather"]
    return find(after["cities"], name=name) is not None and others(after["cities"], name=name) == before["cities"]


def is_removed(ending: Ending) -> bool:
    name, before, after = ending.params["city"], ending.before["weather"], ending.after["weather"]
    return bool(after["cities"] == others(before["cities"], name=name))


def answers(read: Callable[[Tree, Params], str]) -> Callable[[Ending], bool]:
    """The answer is what the city's forecast says, with or without its unit."""

    def check(ending: Ending) -> bool:
        city = find(ending.before["weather"]["cities"], name=ending.params["city"])
        wanted = read(city or {}, ending.params)
        return same(ending.answer, wanted) or same(ending.answer, wanted.split()[0])

    return check


def now(city: Tree, params: Params) -> str:
    return f"{city['now']} C"


def wind(city: Tree, params: Params) -> str:
    return f"{city['wind']} km"


def sky(city: Tree, params: Params) -> str:
    return str(next(day["sky"] for day in city["days"] if day["day"] == params["day"]))


# --- oracles ------------------------------------------------------------------------------------


def open_city(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Weather")
    yield from ui.tap(params["city"], "row")


def look_up(read: Callable[[Tree, Params], str], tab: str = "") -> Callable[[ScreenDriver, Params], Oracle]:
    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        yield from open_city(ui, params)
        if tab:
            yield from ui.tap(tab, "tab")
        city = find(ui.state["weather"]["cities"], name=params["city"])
        assert city is not None
        value = read(city, params)
        yield from ui.reveal(params.get("day", value))
        yield Answer(value)

    return oracle


def add(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Weather")
    yield from ui.tap("Add city")
    yield from ui.write("Search city", params["city"], enter=True)
    yield from ui.tap(params["city"], "row")
    yield Done()


def remove(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_city(ui, params)
    yield from ui.tap("Remove city")
    yield from ui.tap("Remove", "button")
    yield Done()


def change_unit(ui: ScreenDriver, params: Params) -> Oracle:
    yield from open_city(ui, params)
    yield from ui.tap("Units")
    yield from ui.tap(params["unit"], "button")
    yield Done()


TEMPLATES: tuple[Template, ...] = (
    Template(
        name="weather/add",
        app="weather",
        phrasings=("Add {city} to the weather app", "Add the city {city} to weather", "Put {city} in the weather list"),
        space=CITY,
        start=unlisted,
        check=is_added,
        oracle=add,
        max_steps=15,
        may_change=(LISTED,),
    ),
    Template(
        name="weather/remove",
        app="weather",
        phrasings=(
            "Remove {city} from the weather app",
            "Delete the city {city} from weather",
            "Take {city} off the weather list",
        ),
        space=CITY,
        start=listed,
        check=is_removed,
        oracle=remove,
        max_steps=13,
        may_change=(LISTED,),
    ),
    Template(
        name="weather/now",
        app="weather",
        phrasings=(
            "How warm is it in {city} now?",
            "What is the temperature in {city}?",
            "Look up how many degrees it is in {city}",
        ),
        space=CITY,
        start=listed,
        check=answers(now),
        oracle=look_up(now),
        max_steps=11,
    ),
    Template(
        name="weather/wind",
        app="weather",
        phrasings=(
            "How strong is the wind in {city}?",
            "Look up the wind in {city}",
            "Find out how fast the wind is in {city} today",
        ),
        space=CITY,
        start=listed,
        check=answers(wind),
        oracle=look_up(wind),
        max_steps=12,
    ),
    Template(
        name="weather/day",
        app="weather",
        phrasings=(
            "What will the weather be in {city} on {day}?",
            "Look up the weather of {city} on {day}",
            "How is the sky over {city} on {day}?",
        ),
        space={"city": CITIES, "day": DAYS},
        start=listed,
        check=answers(sky),
        oracle=look_up(sky, "Days ahead"),
        max_steps=13,
    ),
    Template(
        name="weather/unit",
        app="weather",
        phrasings=(
            "Show the weather of {city} in {unit}",
            "Open {city} in the weather app and change the unit to {unit}",
            "I want to see the degrees of {city} in {unit}",
        ),
        space={"city": CITIES, "unit": UNITS},
        start=in_the_other_unit,
        check=lambda ending: (
            ending.after["weather"]["unit"] == ending.params["unit"]
            and ending.shows("weather", "city", name=ending.params["city"])
        ),
        oracle=change_unit,
        max_steps=13,
        may_change=("weather/unit",),
    ),
)
