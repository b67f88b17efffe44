"""The weather: a list of cities, and for each one today and the days ahead."""

from __future__ import annotations

import random

from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Button, Dialog, Divider, Field, Icon, Page, Picture, Row, Tabs, Text
from distrl.types import Tree

CITIES = (
    "Athens", "Berlin", "Dublin", "Lisbon", "London", "Madrid", "Oslo", "Paris", "Prague", "Rome", "Tokyo", "Vienna",
    "Cairo", "Lima", "Moscow", "Nairobi", "Bangkok", "Delhi",
)  # fmt: skip
SKIES = ("Sunny", "Cloudy", "Rain", "Snow", "Storm", "Fog", "Windy", "Clear")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
UNITS = ("Celsius", "Fahrenheit")


class Weather(App):
    id = "weather"
    title = "Weather"
    glyph = "sun"
    colour = "#4a90d9"
    home = "cities"

    def seed(self, rng: random.Random) -> Tree:
        today = rng.choice(DAYS)
        cities = [forecast(rng, name, today) for name in rng.sample(CITIES, rng.randint(4, 7))]
        return {"unit": "Celsius", "today": today, "seed": rng.randrange(10**6), "cities": cities, "recent": []}

    # -- pages

    def page_cities(self, ctx: Context) -> Page:
        rows = tuple(
            Row(city["name"], city["sky"], "cloud", degrees(ctx, city["now"]), ("view", city["name"]))
            for city in ctx.data["cities"]
        )
        actions = (Icon("settings", "Units", ("dialog", "units", {})),)
        fab = Icon("add", "Add city", ("push", "search", {}))
        return Page("Weather", rows, actions=actions, fab=fab, colour=self.colour)

    def page_search(self, ctx: Context) -> Page:
        there = {city["name"] for city in ctx.data["cities"]}
        names = [name for name in ctx.ui.get("found", []) if name not in there]
        rows = tuple(Row(name, icon="pin", tap=("add", name)) for name in names)
        empty = Text("No city found" if "found" in ctx.ui else "Type the name of a city")
        return Page("Add city", rows or (empty,), search=Field("city", "Search city", "search"), colour=self.colour)

    def page_city(self, ctx: Context) -> Page:
        city = find_city(ctx.data, ctx.args["name"])
        day = ctx.ui.get("day", "Today")
        body = self._today(ctx, city) if day == "Today" else self._days(ctx, city)
        actions = (
            Icon("settings", "Units", ("dialog", "units", {})),
            Icon("delete", "Remove city", ("dialog", "remove", {"name": city["name"]})),
        )
        tabs = Tabs(("Today", "Days ahead"), day, "day")
        return Page(city["name"], body, actions=actions, tabs=tabs, colour=self.colour)

    def _today(self, ctx: Context, city: Tree) -> tuple[Text | Row | Picture | Divider, ...]:
        return (
            Picture(city["sky"]),
            Text(degrees(ctx, city["now"]), "title"),
            Text(city["sky"], "heading"),
            Divider(),
            Row("High", icon="up", value=degrees(ctx, city["high"])),
            Row("Low", icon="down", value=degrees(ctx, city["low"])),
            Row("Wind", icon="wind", value=f"{city['wind']} km"),
            Row("Rain", icon="cloud", value=f"{city['rain']}%"),
        )

    def _days(self, ctx: Context, city: Tree) -> tuple[Row, ...]:
        return tuple(
            Row(day["day"], icon="calendar", subtitle=day["sky"], value=degrees(ctx, day["high"]))
            for day in city["days"]
        )

    def dialog_units(self, ctx: Context) -> Dialog:
        return Dialog("Units", "Show degrees in", buttons=tuple(Button(unit, ("set", "unit", unit)) for unit in UNITS))

    def dialog_remove(self, ctx: Context, name: str) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Remove", ("remove", name)))
        return Dialog(f"Remove {name}?", buttons=buttons)

    # -- events

    def on_view(self, ctx: Context, name: str) -> None:
        ctx.push("city", name=name)

    def on_day(self, ctx: Context, day: str) -> None:
        ctx.ui["day"] = day
        ctx.frame["scroll"] = 0

    def on_submit(self, ctx: Context, key: str) -> None:
        """Cities that begin as the query does, among a few others."""
        query = ctx.field(key).strip().casefold()
        hits = [name for name in CITIES if query and name.casefold().startswith(query)]
        rng = random.Random(f"{ctx.data['seed']}/{query}")
        others = rng.sample([name for name in CITIES if name not in hits], 4) if hits else []
        ctx.ui["found"] = rng.sample(hits + others, len(hits + others))
        ctx.unfocus()

    def on_add(self, ctx: Context, name: str) -> None:
        rng = random.Random(f"{ctx.data['seed']}/{name}")
        ctx.data["cities"].append(forecast(rng, name, ctx.data["today"]))
        ctx.back()
        ctx.snack(f"{name} added")

    def on_remove(self, ctx: Context, name: str) -> None:
        ctx.data["cities"].remove(find_city(ctx.data, name))
        ctx.back()
        ctx.snack(f"{name} removed")


def forecast(rng: random.Random, name: str, today: str) -> Tree:
    """The weather of one city: now, and six days ahead. Degrees are Celsius."""
    low = rng.randint(-5, 22)
    first = DAYS.index(today) + 1
    days = [
        {"day": DAYS[(first + ahead) % 7], "sky": rng.choice(SKIES), "high": low + rng.randint(3, 14)}
        for ahead in range(6)
    ]
    high = low + rng.randint(4, 12)
    now = {"now": rng.randint(low, high), "high": high, "low": low, "sky": rng.choice(SKIES)}
    return {"name": name, **now, "wind": rng.randint(2, 60), "rain": rng.randint(0, 10) * 10, "days": days}


def find_city(data: Tree, name: str) -> Tree:
    found: Tree = next(city for city in data["cities"] if city["name"] == name)
    return found


def degrees(ctx: Context, celsius: int) -> str:
    return f"{celsius} C" if ctx.data["unit"] == "Celsius" else f"{round(celsius * 9 / 5 + 32)} F"
