"""A week of events: an agenda, one day at a time, and a page to plan."""

from __future__ import annotations

import random

from distrl.devices.sim import vocabulary
from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import Button, Chips, Dialog, Field, Icon, Page, Row, Stepper, Tabs, Text, Widget
from distrl.types import Tree

FIRST_HOUR, LAST_HOUR = 6, 22
GONE = Page("Calendar", (Text("This event is gone", "caption"),))
SHORT_DAYS = tuple(day[:3] for day in vocabulary.DAYS)


class Calendar(App):
    """Data: {"events": [{"id", "title", "day", "hour", "place"}, …], "first_hour": hour a new event starts at}."""

    id = "calendar"
    title = "Calendar"
    glyph = "calendar"
    colour = "#2f8f5b"
    home = "agenda"

    def seed(self, rng: random.Random) -> Tree:
        titles = rng.sample(vocabulary.EVENTS, rng.randint(6, 10))
        return {"events": [event(i, title, rng) for i, title in enumerate(titles)], "first_hour": rng.randint(11, 13)}

    # -- pages

    def page_agenda(self, ctx: Context) -> Page:
        tab = ctx.ui.get("tab", "Week")
        return Page(
            "Calendar",
            day(ctx) if tab == "Day" else week(ctx.data["events"]),
            tabs=Tabs(("Week", "Day"), tab, "tab"),
            fab=Icon("add", "Add event", ("push", "add", {})),
        )

    def page_event(self, ctx: Context) -> Page:
        e = event_of(ctx.data, ctx.args["id"])
        if e is None:
            return GONE
        return Page(
            e["title"],
            (
                Row("Day", e["day"], icon="calendar"),
                Row("Time", clock(e["hour"]), icon="clock"),
                Row("Place", e["place"] or "None", icon="pin"),
                Button("Move", ("plan", e["id"]), filled=False),
            ),
            actions=(Icon("delete", "Delete", ("dialog", "delete", {"number": e["id"]})),),
        )

    def page_add(self, ctx: Context) -> Page:
        return Page(
            "New event",
            (Field("title", "Title"), *self._pickers(ctx)),
            actions=(Icon("check", "Save", ("add",)),),
        )

    def page_move(self, ctx: Context) -> Page:
        e = event_of(ctx.data, ctx.args["id"])
        if e is None:
            return GONE
        return Page(
            "Move event",
            (Text(e["title"], "heading"), *self._pickers(ctx)),
            actions=(Icon("check", "Save", ("move", e["id"])),),
        )

    def _pickers(self, ctx: Context) -> tuple[Widget, ...]:
        chosen_day, hour = self._choice(ctx)
        return (
            Chips(SHORT_DAYS, (chosen_day[:3],), "day"),
            Stepper("Time", clock(hour), ("hour", hour - 1), ("hour", hour + 1)),
        )

    def _choice(self, ctx: Context) -> tuple[str, int]:
        """The day and hour that the page's pickers show."""
        return ctx.ui.get("day") or vocabulary.DAYS[0], ctx.ui.get("hour") or ctx.data["first_hour"]

    # -- dialogs

    def dialog_delete(self, ctx: Context, number: int) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Delete", ("delete", number)))
        e = event_of(ctx.data, number)
        return Dialog("Delete event?", e["title"] if e else "", buttons=buttons)

    # -- events

    def on_tab(self, ctx: Context, name: str) -> None:
        ctx.ui["tab"] = name
        ctx.frame["scroll"] = 0

    def on_day(self, ctx: Context, short: str) -> None:
        ctx.ui["day"] = vocabulary.DAYS[SHORT_DAYS.index(short)]

    def on_hour(self, ctx: Context, hour: int) -> None:
        ctx.ui["hour"] = min(max(hour, FIRST_HOUR), LAST_HOUR)

    def on_plan(self, ctx: Context, number: int) -> None:
        if e := event_of(ctx.data, number):
            ctx.push("move", id=number)
            ctx.state["os"]["stack"][-1]["ui"].update(day=e["day"], hour=e["hour"])

    def on_add(self, ctx: Context) -> None:
        title, (chosen_day, hour) = ctx.field("title").strip(), self._choice(ctx)
        if not title:
            ctx.snack("A title is needed")
            return
        number = 1 + max((e["id"] for e in ctx.data["events"]), default=0)
        ctx.data["events"].append({"id": number, "title": title, "day": chosen_day, "hour": hour, "place": ""})
        ctx.back()
        ctx.snack("Event saved")

    def on_move(self, ctx: Context, number: int) -> None:
        chosen_day, hour = self._choice(ctx)
        if e := event_of(ctx.data, number):
            e.update(day=chosen_day, hour=hour)
            ctx.back()
            ctx.snack("Event moved")

    def on_delete(self, ctx: Context, number: int) -> None:
        ctx.data["events"] = [e for e in ctx.data["events"] if e["id"] != number]
        ctx.back()
        ctx.snack("Event deleted")

    def on_submit(self, ctx: Context, key: str) -> None:
        ctx.unfocus()


def clock(hour: int) -> str:
    return f"{hour:02d}:00"


def event_of(data: Tree, number: int) -> Tree | None:
    """None when it was deleted while a page below still shows it."""
    return next((e for e in data["events"] if e["id"] == number), None)


def event(number: int, title: str, rng: random.Random) -> Tree:
    """An event at a chance time and place."""
    hour, place = rng.randint(8, 20), rng.choice(vocabulary.PLACES)
    return {"id": number, "title": title, "day": rng.choice(vocabulary.DAYS), "hour": hour, "place": place}


def week(events: list[Tree]) -> tuple[Widget, ...]:
    body: list[Widget] = []
    for name in vocabulary.DAYS:
        if planned := [e for e in events if e["day"] == name]:
            body += [Text(name, "heading"), *entries(planned)]
    return tuple(body) or (Text("No events", "caption"),)


def day(ctx: Context) -> tuple[Widget, ...]:
    name = ctx.ui.get("day", vocabulary.DAYS[0])
    planned = entries([e for e in ctx.data["events"] if e["day"] == name])
    return (Chips(SHORT_DAYS, (name[:3],), "day"), *(planned or (Text("No events", "caption"),)))


def entries(events: list[Tree]) -> tuple[Widget, ...]:
    ordered = sorted(events, key=lambda e: (e["hour"], e["title"]))
    return tuple(Row(e["title"], value=clock(e["hour"]), tap=("push", "event", {"id": e["id"]})) for e in ordered)
