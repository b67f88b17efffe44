"""Tasks in the clock: alarms, timer, stopwatch."""

from __future__ import annotations

import random

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, others, same
from distrl.types import Answer, Done, Tree

ALARMS = "clock/alarms"
HOURS = tuple(range(5, 23))
MINUTES = ("00", "10", "15", "30", "40", "45")
TIMES = ("5:45", "6:15", "6:30", "7:00", "7:45", "8:30", "9:15", "11:00", "12:30", "14:15", "16:40", "18:00", "20:45")
LABELS = ("Work", "School", "Gym", "Lunch", "Tea", "Bus", "Walk", "Meeting", "Dinner", "Sleep")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
TIMERS = (2, 3, 5, 10, 15, 20, 25, 30, 45, 60)
ENDS = {"stop it": False, "let it run": True}


def wanted_time(params: Params) -> str:
    return str(params["time"]) if "time" in params else f"{params['hour']}:{params['minute']}"


def alarm(time: str, label: str = "", on: bool = True, days: tuple[str, ...] = ()) -> Tree:
    return {"time": time, "label": label, "on": on, "days": list(days)}


# --- start states -------------------------------------------------------------------------------


def without_it(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """No alarm at that time, and a picker that starts a few turns away from it."""
    hour, minute = wanted_time(params).split(":")
    near_hour = min(max(int(hour) + rng.randint(-2, 2), 0), 23)
    near_minute = min(max(int(minute) + 5 * rng.randint(-2, 2), 0), 55)
    near = f"{near_hour}:{near_minute:02d}"
    return ("drop", ALARMS, {"time": wanted_time(params)}), ("set", "clock/suggested", near)


def with_opposite(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return with_alarm(alarm(params["time"], rng.choice(LABELS), params["state"] == "off"))


def with_it(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return with_alarm(alarm(params["time"], rng.choice(LABELS), rng.random() < 0.5))


def with_label(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    time = f"{rng.choice(HOURS)}:{rng.choice(MINUTES)}"
    return ("drop", ALARMS, {"label": params["label"]}), *with_alarm(alarm(time, params["label"], rng.random() < 0.5))


def with_alarm(entry: Tree) -> tuple[Edit, ...]:
    return ("drop", ALARMS, {"time": entry["time"]}), ("add", ALARMS, entry)


def timer_elsewhere(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    minutes = rng.choice([m for m in TIMERS if m != params["minutes"]])
    return (("set", "clock/timer", {"minutes": minutes, "running": False}),)


# --- rules --------------------------------------------------------------------------------------


def was_added(ending: Ending) -> bool:
    """One alarm more, as wanted, and the others untouched."""
    before, after = ending.before["clock"]["alarms"], ending.after["clock"]["alarms"]
    new = [entry for entry in after if entry not in before]
    wanted = alarm(wanted_time(ending.params), ending.params.get("label", ""))
    return len(new) == 1 and len(after) == len(before) + 1 and equal(new[0], wanted)


def equal(entry: Tree, wanted: Tree) -> bool:
    return all(same(entry[key], value) for key, value in wanted.items())


def is_now(ending: Ending, wanted: Tree | None) -> bool:
    """Whether the alarm at that time is the wanted one, or gone for None, and all others are as they were."""
    time, after = ending.params["time"], ending.after["clock"]["alarms"]
    rest = others(after, time=time) == others(ending.before["clock"]["alarms"], time=time)
    return rest and find(after, time=time) == wanted


def was_switched(ending: Ending) -> bool:
    return is_now(ending, {**entry_before(ending), "on": ending.params["state"] == "on"})


def was_repeated(ending: Ending) -> bool:
    return is_now(ending, {**entry_before(ending), "on": True, "days": [ending.params["day"]]})


def entry_before(ending: Ending) -> Tree:
    return next(a for a in ending.before["clock"]["alarms"] if a["time"] == ending.params["time"])


def rings_at(state: Tree, params: Params) -> str:
    return str(next(a["time"] for a in state["clock"]["alarms"] if a["label"] == params["label"]))


# --- oracles ------------------------------------------------------------------------------------


def add_alarm(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Clock")
    yield from ui.tap("Add alarm")
    hour, minute = wanted_time(params).split(":")
    yield from ui.turn(0, hour)
    yield from ui.turn(1, minute)
    if "label" in params:
        yield from ui.write("Label", params["label"])
    yield from ui.tap("Save", "button")
    yield Done()


def switch_alarm(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Clock")
    yield from ui.tap(params["time"], "toggle")
    yield Done()


def delete_alarm(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Clock")
    yield from ui.tap("Edit")
    yield from ui.long_press(params["time"], "row")
    yield from ui.tap("Delete", "button")
    yield Done()


def repeat_alarm(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Clock")
    yield from ui.tap("Edit")
    yield from ui.tap(params["time"], "row")
    yield from ui.tap(params["day"], "checkbox")
    yield from ui.tap("Save", "button")
    yield Done()


def tell_time(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Clock")
    time = rings_at(ui.state, params)
    yield from ui.reveal(time, "toggle")
    yield Answer(time)


def start_timer(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Clock")
    yield from ui.tap("Timer", "tab")
    yield from ui.tap(f"{params['minutes']} min")
    yield from ui.tap("Start", "button")
    yield Done()


def count_laps(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Clock")
    yield from ui.tap("Stopwatch", "tab")
    yield from ui.tap("Start", "button")
    for _ in range(params["laps"]):
        yield from ui.tap("Lap", "button")
    if not ENDS[params["end"]]:
        yield from ui.tap("Stop", "button")
    yield Done()


TEMPLATES = (
    Template(
        name="clock/add_alarm",
        app="clock",
        phrasings=(
            "Set an alarm for {hour}:{minute}",
            "Add an alarm at {hour}:{minute}",
            "Wake me up at {hour}:{minute}",
            "Make a new alarm for {hour}:{minute}",
        ),
        space={"hour": HOURS, "minute": MINUTES},
        start=without_it,
        check=was_added,
        oracle=add_alarm,
        max_steps=15,
        may_change=(ALARMS,),
    ),
    Template(
        name="clock/add_named_alarm",
        app="clock",
        phrasings=(
            "Set an alarm for {time} with the label {label}",
            "Add a {label} alarm at {time}",
            "Make an alarm called {label} for {time}",
        ),
        space={"time": TIMES, "label": LABELS},
        start=without_it,
        check=was_added,
        oracle=add_alarm,
        max_steps=15,
        may_change=(ALARMS,),
    ),
    Template(
        name="clock/switch_alarm",
        app="clock",
        phrasings=(
            "Turn {state} the {time} alarm",
            "Switch the alarm at {time} {state}",
            "Turn the {time} alarm {state}",
        ),
        space={"time": TIMES, "state": ("on", "off")},
        start=with_opposite,
        check=was_switched,
        oracle=switch_alarm,
        max_steps=8,
        may_change=(ALARMS,),
    ),
    Template(
        name="clock/delete_alarm",
        app="clock",
        phrasings=("Delete the {time} alarm", "Remove the alarm at {time}", "Delete the alarm that is set for {time}"),
        space={"time": TIMES},
        start=with_it,
        check=lambda ending: is_now(ending, None),
        oracle=delete_alarm,
        max_steps=12,
        may_change=(ALARMS,),
    ),
    Template(
        name="clock/repeat_alarm",
        app="clock",
        phrasings=(
            "Repeat the {time} alarm every {day}",
            "Make the {time} alarm ring every {day}",
            "Set the alarm at {time} to repeat on {day}",
        ),
        space={"time": TIMES, "day": DAYS},
        start=with_it,
        check=was_repeated,
        oracle=repeat_alarm,
        max_steps=15,
        may_change=(ALARMS,),
    ),
    Template(
        name="clock/tell_time",
        app="clock",
        phrasings=(
            "When does the {label} alarm ring?",
            "What time is the {label} alarm set for?",
            "Tell me the time of the {label} alarm",
        ),
        space={"label": LABELS},
        start=with_label,
        check=lambda ending: same(ending.answer, rings_at(ending.before, ending.params)),
        oracle=tell_time,
        max_steps=8,
    ),
    Template(
        name="clock/start_timer",
        app="clock",
        phrasings=(
            "Start a timer for {minutes} minutes",
            "Set a {minutes} minute timer and start it",
            "Count down {minutes} minutes with the timer",
        ),
        space={"minutes": TIMERS},
        start=timer_elsewhere,
        check=lambda ending: ending.after["clock"]["timer"] == {"minutes": ending.params["minutes"], "running": True},
        oracle=start_timer,
        max_steps=10,
        may_change=("clock/timer",),
    ),
    Template(
        name="clock/count_laps",
        app="clock",
        phrasings=(
            "Start the stopwatch, record {laps} laps and {end}",
            "Start the stopwatch, tap lap {laps} times and {end}",
            "Use the stopwatch to record {laps} laps and then {end}",
        ),
        space={"laps": (2, 3, 4, 5), "end": tuple(ENDS)},
        check=lambda ending: (
            ending.after["clock"]["stopwatch"] == {"running": ENDS[ending.params["end"]], "laps": ending.params["laps"]}
        ),
        oracle=count_laps,
        max_steps=15,
        may_change=("clock/stopwatch",),
        held_out=True,
    ),
)
