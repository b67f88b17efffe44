"""Tasks on the home screen: open apps, find them, change between them."""

from __future__ import annotations

import random

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.types import Done, Tree

OWN_APPS = {
    "Settings": ("settings", "root"),
    "Clock": ("clock", "alarms"),
    "Contacts": ("contacts", "list"),
    "Messages": ("messages", "threads"),
    "Mail": ("mail", "box"),
    "Calendar": ("calendar", "agenda"),
    "Notes": ("notes", "list"),
    "App Store": ("store", "front"),
}
"""Title → id and first page. The apps of the split test-apps are left out: no training task may touch them."""

STORE_APPS = ("Chess", "Farm", "Castle", "Cards", "Compass", "Torch", "Forum", "Friends", "Yoga", "Puzzle", "Dragon")
TITLES = (*OWN_APPS, "Browser", *STORE_APPS)


def with_app(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """The app is on the phone, among others, and not in front."""
    wanted = {params[key] for key in ("app", "first") if params.get(key) in STORE_APPS}
    others = [title for title in STORE_APPS if title not in wanted]
    titles = [*sorted(wanted), *rng.sample(others, rng.randint(2, 4))]
    rng.shuffle(titles)
    return ("set", "store/installed", titles), ("set", "store/updates", []), ("open", "launcher", "home")


def inside_another(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    app, page = OWN_APPS[params["here"]]
    *edits, _ = with_app(params, rng)
    return *edits, ("open", app, page)


def is_open(ending: Ending) -> bool:
    title = ending.params["app"]
    if title in STORE_APPS:
        return ending.shows("launcher", "app", title=title)
    wanted: str = "browser" if title == "Browser" else OWN_APPS[title][0]
    return bool(ending.page["app"] == wanted)


def was_found(ending: Ending) -> bool:
    """Open, and the last thing searched for was a part of its name."""
    new = since(ending, "recent")
    return bool(new) and new[-1].strip().casefold() in ending.params["app"].casefold() and is_open(ending)


def both_were_opened(ending: Ending) -> bool:
    return since(ending, "history")[-2:] == [ending.params["first"], ending.params["app"]] and is_open(ending)


def since(ending: Ending, key: str) -> list[str]:
    """What a list of the launcher gained during the episode."""
    before: Tree = ending.before["launcher"]
    gained: list[str] = ending.after["launcher"][key][len(before[key]) :]
    return gained


def open_it(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app(params["app"])
    yield Done()


def search_it(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.write("Search apps", params["app"], enter=True)
    yield Done()


def open_both(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app(params["first"])
    yield from ui.open_app(params["app"])
    yield Done()


TEMPLATES = (
    Template(
        name="launcher/open_app",
        app="launcher",
        phrasings=("Open the {app} app", "Start {app}", "Launch the app called {app}", "Go to the {app} app"),
        space={"app": TITLES},
        start=with_app,
        check=is_open,
        oracle=open_it,
        max_steps=8,
    ),
    Template(
        name="launcher/switch_app",
        app="launcher",
        phrasings=(
            "Leave {here} and open {app}",
            "Switch from {here} to {app}",
            "Close {here} and go to the {app} app",
        ),
        space={"here": tuple(OWN_APPS), "app": TITLES},
        allowed=lambda params: params["here"] != params["app"],
        start=inside_another,
        check=is_open,
        oracle=open_it,
        max_steps=9,
    ),
    Template(
        name="launcher/search_app",
        app="launcher",
        phrasings=(
            "Search for {app} on the home screen and open it",
            "Find the {app} app with the search box and open it",
            "Use the app search to start {app}",
        ),
        space={"app": TITLES},
        start=with_app,
        check=was_found,
        oracle=search_it,
        max_steps=9,
    ),
    Template(
        name="launcher/open_two_apps",
        app="launcher",
        phrasings=(
            "Open {first} first and then open {app}",
            "Open two apps: first {first}, then {app}",
            "Look into {first}, then go to {app}",
        ),
        space={"first": tuple(OWN_APPS), "app": TITLES},
        allowed=lambda params: params["first"] != params["app"],
        start=with_app,
        check=both_were_opened,
        oracle=open_both,
        max_steps=15,
        held_out=True,
    ),
)
