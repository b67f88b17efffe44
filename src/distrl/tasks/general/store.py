"""Tasks in the app store."""

from __future__ import annotations

import random
from collections.abc import Callable

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, same
from distrl.types import Answer, Done

APPS = (
    "Chess", "Farm", "Castle", "Space Race", "Word Game", "Cards", "Dragon", "Puzzle",
    "Compass", "Scanner", "Torch", "Recorder", "Ruler", "Zip Box", "Mirror", "Sketch",
    "Chat Room", "Friends", "Forum", "Blog", "Video Call", "Club", "Share", "Pen Pal",
    "Running", "Yoga", "Sleep", "Diet", "Steps", "Heart", "Water", "Gym",
)  # fmt: skip
APP = {"app": APPS}
INSTALLED, UPDATES = "store/installed", "store/updates"


# --- start states -------------------------------------------------------------------------------


def others(app: str, rng: random.Random, count: int) -> list[str]:
    return rng.sample([title for title in APPS if title != app], count)


def not_installed(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    titles = others(params["app"], rng, rng.randint(3, 5))
    return ("set", INSTALLED, titles), ("set", UPDATES, titles[: rng.randint(0, 2)])


def installed(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    rest = others(params["app"], rng, rng.randint(3, 5))
    titles = rng.sample([params["app"], *rest], len(rest) + 1)
    return ("set", INSTALLED, titles), ("set", UPDATES, rest[: rng.randint(0, 2)])


def outdated(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    rest = others(params["app"], rng, rng.randint(3, 5))
    titles, waiting = [params["app"], *rest], [params["app"], *rest[: rng.randint(1, 2)]]
    return ("set", INSTALLED, rng.sample(titles, len(titles))), ("set", UPDATES, rng.sample(waiting, len(waiting)))


# --- rules --------------------------------------------------------------------------------------


def is_installed(ending: Ending) -> bool:
    before, after = ending.before["store"]["installed"], ending.after["store"]["installed"]
    return set(after) == {*before, ending.params["app"]}


def is_gone(ending: Ending) -> bool:
    before, after = ending.before["store"]["installed"], ending.after["store"]["installed"]
    return set(after) == set(before) - {ending.params["app"]}


def is_updated(ending: Ending) -> bool:
    before, after = ending.before["store"]["updates"], ending.after["store"]["updates"]
    return set(after) == set(before) - {ending.params["app"]}


def fact(ending: Ending, key: str) -> bool:
    entry = find(ending.before["store"]["apps"], title=ending.params["app"])
    return entry is not None and same(ending.answer, entry[key])


# --- oracles ------------------------------------------------------------------------------------


def search(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("App Store")
    yield from ui.write("Search apps", params["app"], enter=True)


def open_page(ui: ScreenDriver, params: Params) -> Oracle:
    yield from search(ui, params)
    yield from ui.tap(params["app"], "row")


def open_mine(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("App Store")
    yield from ui.tap("My apps", "tab")
    yield from ui.tap(params["app"], "row")


def then(way: Callable[[ScreenDriver, Params], Oracle], *labels: str) -> Callable[[ScreenDriver, Params], Oracle]:
    """Go that way, tap these buttons, done."""

    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        yield from way(ui, params)
        for label in labels:
            yield from ui.tap(label, "button")
        yield Done()

    return oracle


def look_up(key: str) -> Callable[[ScreenDriver, Params], Oracle]:
    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        yield from open_page(ui, params)
        entry = find(ui.state["store"]["apps"], title=params["app"])
        assert entry is not None
        yield from ui.reveal(entry[key])
        yield Answer(entry[key])

    return oracle


TEMPLATES: tuple[Template, ...] = (
    Template(
        name="store/search",
        app="store",
        phrasings=(
            "Search the app store for {app}",
            "Look for the app {app} in the app store",
            "Go to the app store and search for {app}",
        ),
        space=APP,
        check=lambda ending: (
            ending.shows("store", "results") and same(ending.page["args"]["query"], ending.params["app"])
        ),
        oracle=then(search),
        max_steps=12,
    ),
    Template(
        name="store/install",
        app="store",
        phrasings=("Install the app {app}", "Get {app} from the app store", "Download and install {app}"),
        space=APP,
        start=not_installed,
        check=is_installed,
        oracle=then(open_page, "Install"),
        max_steps=15,
        may_change=(INSTALLED,),
    ),
    Template(
        name="store/uninstall",
        app="store",
        phrasings=(
            "Uninstall the app {app}",
            "Remove the app {app} from the phone",
            "Uninstall {app} in the app store",
        ),
        space=APP,
        start=installed,
        check=is_gone,
        oracle=then(open_mine, "Uninstall", "Uninstall"),
        max_steps=13,
        may_change=(INSTALLED,),
    ),
    Template(
        name="store/update",
        app="store",
        phrasings=("Update the app {app}", "Install the update of {app}", "Get the new version of the app {app}"),
        space=APP,
        start=outdated,
        check=is_updated,
        oracle=then(open_mine, "Update"),
        max_steps=12,
        may_change=(UPDATES,),
    ),
    Template(
        name="store/rating",
        app="store",
        phrasings=(
            "What is the rating of {app} in the app store?",
            "Look up the rating of the app {app}",
            "Which rating does the app {app} have? Answer with the number",
        ),
        space=APP,
        check=lambda ending: fact(ending, "rating"),
        oracle=look_up("rating"),
        max_steps=15,
    ),
    Template(
        name="store/size",
        app="store",
        phrasings=(
            "How large is the app {app}?",
            "Look up the size of {app} in the app store",
            "Find out the size of the app {app} and answer with it",
        ),
        space=APP,
        check=lambda ending: fact(ending, "size"),
        oracle=look_up("size"),
        max_steps=15,
        held_out=True,
    ),
)
