"""Alarms, a timer and a stopwatch.

Stored: `alarms` [{time "7:30", label, on, days}], `suggested` (where the picker of a new alarm starts),
`timer` {minutes, running}, `stopwatch` {running, laps}, `tabs` (their order).
"""

from __future__ import annotations

import random
from typing import Any

from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.ui import (
    Button,
    ButtonRow,
    Check,
    Chips,
    Dialog,
    Divider,
    Field,
    Icon,
    Page,
    Row,
    Stepper,
    Tabs,
    Text,
    Toggle,
    Wheel,
    Widget,
)
from distrl.types import Tree

HOURS = tuple(str(hour) for hour in range(24))
MINUTES = tuple(f"{minute:02d}" for minute in range(0, 60, 5))
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PRESETS = (2, 3, 5, 10, 15, 20, 25, 30, 45, 60)
LABELS = ("Work", "School", "Gym", "Lunch", "Tea", "Bus", "Walk", "Meeting", "Dinner", "Sleep")
TABS = ("Alarm", "Timer", "Stopwatch")


class Clock(App):
    id = "clock"
    title = "Clock"
    glyph = "clock"
    colour = "#3949ab"
    home = "alarms"

    def seed(self, rng: random.Random) -> Tree:
        times = rng.sample([f"{hour}:{minute}" for hour in HOURS[5:23] for minute in MINUTES], rng.randint(2, 4))
        labels = rng.sample(LABELS, len(times))
        alarms = [new_alarm(t, label, rng.random() < 0.5) for t, label in zip(times, labels, strict=True)]
        return {
            "alarms": alarms,
            "suggested": f"{rng.choice(HOURS)}:{rng.choice(MINUTES)}",
            "timer": {"minutes": rng.choice(PRESETS), "running": False},
            "stopwatch": {"running": False, "laps": 0},
            "tabs": rng.sample(TABS, len(TABS)),
        }

    def _tabs(self, ctx: Context, selected: str) -> Tabs:
        return Tabs(tuple(ctx.data["tabs"]), selected, "tab")

    # -- alarms

    def page_alarms(self, ctx: Context) -> Page:
        body = [Toggle(a["time"], a["on"], ("switch", i), summary(a)) for i, a in enumerate(ctx.data["alarms"])]
        return Page(
            "Clock",
            tuple(body) or (Text("No alarms"),),
            actions=(Icon("edit", "Edit", ("push", "edit", {})),),
            fab=Icon("add", "Add alarm", ("add",)),
            bottom=self._tabs(ctx, "Alarm"),
            colour=self.colour,
        )

    def page_edit(self, ctx: Context) -> Page:
        """A tap opens the alarm, a long press deletes it."""
        rows = tuple(
            Row(a["time"], summary(a), icon="clock", tap=("open_alarm", i), long=("dialog", "delete", {"index": i}))
            for i, a in enumerate(ctx.data["alarms"])
        )
        return Page("Edit alarms", rows or (Text("No alarms"),), colour=self.colour)

    def page_alarm(self, ctx: Context) -> Page:
        """A new alarm, or an old one when `index` is not negative. Nothing is stored before Save."""
        days = tuple(Check(day, day in ctx.ui["days"], ("day", day)) for day in DAYS)
        index = ctx.args["index"]
        buttons = [Button("Save", ("save",))]
        if index >= 0:
            buttons.append(Button("Delete", ("dialog", "delete", {"index": index}), filled=False))
        body: tuple[Widget, ...] = (
            Wheel((HOURS, MINUTES), tuple(ctx.ui["time"].split(":")), "turn"),
            ButtonRow(tuple(buttons)),
            Field("label", "Label"),
            Text("Repeat", style="heading"),
            *days,
        )
        return Page("New alarm" if index < 0 else "Alarm", body, colour=self.colour)

    def dialog_delete(self, ctx: Context, index: int) -> Dialog:
        buttons = (Button("Cancel", ("none",), filled=False), Button("Delete", ("delete", index)))
        return Dialog("Delete alarm?", ctx.data["alarms"][index]["time"], buttons=buttons)

    def on_switch(self, ctx: Context, index: int) -> None:
        alarm = ctx.data["alarms"][index]
        alarm["on"] = not alarm["on"]

    def on_add(self, ctx: Context) -> None:
        self._show(ctx, -1, new_alarm(ctx.data["suggested"], "", True))

    def on_open_alarm(self, ctx: Context, index: int) -> None:
        self._show(ctx, index, ctx.data["alarms"][index])

    def _show(self, ctx: Context, index: int, alarm: Tree) -> None:
        ctx.push("alarm", fields={"label": alarm["label"]}, index=index)
        ctx.state["os"]["stack"][-1]["ui"].update(time=alarm["time"], days=list(alarm["days"]))

    def on_turn(self, ctx: Context, column: int, value: str) -> None:
        parts = ctx.ui["time"].split(":")
        parts[column] = value
        ctx.ui["time"] = ":".join(parts)

    def on_day(self, ctx: Context, day: str) -> None:
        chosen = set(ctx.ui["days"]) ^ {day}
        ctx.ui["days"] = [day for day in DAYS if day in chosen]

    def on_submit(self, ctx: Context, key: str) -> None:
        ctx.unfocus()

    def on_save(self, ctx: Context) -> None:
        alarm = new_alarm(ctx.ui["time"], ctx.field("label").strip(), True, ctx.ui["days"])
        index = ctx.args["index"]
        if index < 0:
            ctx.data["alarms"].append(alarm)
        else:
            ctx.data["alarms"][index] = alarm
        ctx.back()
        ctx.snack("Alarm saved")

    def on_delete(self, ctx: Context, index: int) -> None:
        del ctx.data["alarms"][index]
        if ctx.frame["page"] == "alarm":
            ctx.back()
        ctx.snack("Alarm deleted")

    # -- timer and stopwatch

    def on_tab(self, ctx: Context, name: str) -> None:
        ctx.replace({"Alarm": "alarms", "Timer": "timer", "Stopwatch": "stopwatch"}[name])

    def page_timer(self, ctx: Context) -> Page:
        timer = ctx.data["timer"]
        minutes = ctx.ui.get("minutes", timer["minutes"])
        body: tuple[Widget, ...]
        if timer["running"]:
            body = (Text(f"{minutes} min", style="title"), Text("Timer is running"), Button("Stop", ("timer", False)))
        else:
            body = (
                Stepper("Minutes", str(minutes), ("minutes", max(minutes - 1, 1)), ("minutes", min(minutes + 1, 99))),
                Chips(tuple(f"{m} min" for m in PRESETS), (f"{minutes} min",), "preset"),
                Button("Start", ("timer", True)),
            )
        return Page("Clock", body, bottom=self._tabs(ctx, "Timer"), colour=self.colour)

    def on_minutes(self, ctx: Context, minutes: int) -> None:
        ctx.ui["minutes"] = minutes

    def on_preset(self, ctx: Context, name: str) -> None:
        ctx.ui["minutes"] = int(name.split()[0])

    def on_timer(self, ctx: Context, running: bool) -> None:
        timer = ctx.data["timer"]
        timer.update(minutes=ctx.ui.get("minutes", timer["minutes"]), running=running)

    def page_stopwatch(self, ctx: Context) -> Page:
        watch = ctx.data["stopwatch"]
        first = Button("Stop", ("watch", False)) if watch["running"] else Button("Start", ("watch", True))
        second = Button("Lap", ("lap",)) if watch["running"] else Button("Reset", ("reset",))
        laps = tuple(Row(f"Lap {number}") for number in range(watch["laps"], 0, -1))
        face = Text("Running" if watch["running"] else "Stopped", style="title")
        body: tuple[Widget, ...] = (face, ButtonRow((first, second)), Divider(), *laps)
        return Page("Clock", body, bottom=self._tabs(ctx, "Stopwatch"), colour=self.colour)

    def on_watch(self, ctx: Context, running: bool) -> None:
        ctx.data["stopwatch"]["running"] = running

    def on_lap(self, ctx: Context) -> None:
        ctx.data["stopwatch"]["laps"] += 1

    def on_reset(self, ctx: Context) -> None:
        ctx.data["stopwatch"] = {"running": False, "laps": 0}


def new_alarm(time: str, label: str, on: bool, days: Any = ()) -> Tree:
    return {"time": time, "label": label, "on": on, "days": list(days)}


def summary(alarm: Tree) -> str:
    """What stands below the time: the label and the first letters of the days."""
    days = "Every day" if len(alarm["days"]) == len(DAYS) else " ".join(day[:3] for day in alarm["days"])
    return " · ".join(part for part in (alarm["label"], days) if part)
