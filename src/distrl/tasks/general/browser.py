"""Tasks in the browser: search, sites, tabs, bookmarks, and questions that the web answers."""

from __future__ import annotations

import random
from collections.abc import Callable

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.general.records import find, same
from distrl.types import Answer, Done, Press, Tree, Type

PAPERS = ("news", "sports", "movies", "travel", "recipes", "science")
VENUES = ("museum", "zoo", "library", "theater", "pool", "gallery", "castle", "tower", "garden", "cinema")
SITES = (*PAPERS, *VENUES)
QUERIES = (
    "soup recipe", "train tickets", "movie tonight", "black shoes", "piano lesson", "cheap flight", "garden party",
    "football game", "birthday gift", "hotel in Rome", "bike shop", "yoga class", "bread recipe", "dog food",
    "book club", "new phone", "winter coat", "city map", "house rent", "coffee table",
)  # fmt: skip
CAPITALS = {
    "France": "Paris", "Germany": "Berlin", "Italy": "Rome", "Spain": "Madrid", "Japan": "Tokyo", "Egypt": "Cairo",
    "Peru": "Lima", "Norway": "Oslo", "Austria": "Vienna", "Greece": "Athens", "Ireland": "Dublin",
    "Russia": "Moscow", "Portugal": "Lisbon", "Kenya": "Nairobi", "Thailand": "Bangkok", "India": "Delhi",
}  # fmt: skip
SITE = {"site": SITES}
VENUE = {"venue": VENUES}
TABS, MARKS = "browser/tabs", "browser/bookmarks"


# --- start states -------------------------------------------------------------------------------


def tab(number: int, site: str) -> Tree:
    return {"id": number, "private": False, "history": [{"site": site, "view": "home"}]}


def others(params: Params, rng: random.Random, count: int) -> list[str]:
    return rng.sample([site for site in SITES if site not in (params.get("site"), params.get("venue"))], count)


def elsewhere(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """The browser opens with a new tab or another site."""
    sites = ["newtab", *others(params, rng, rng.randint(0, 3))]
    tabs = [tab(number, site) for number, site in enumerate(rng.sample(sites, len(sites)), 1)]
    shown = next(t["id"] for t in tabs if t["history"][0]["site"] == "newtab")
    return ("set", TABS, tabs), ("set", "browser/recent", shown if rng.random() < 0.7 else tabs[0]["id"])


def unmarked(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return *elsewhere(params, rng), ("drop", MARKS, {"title": params["site"].capitalize()})


def marked(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    site = params["site"]
    mark = {"title": site.capitalize(), "place": {"site": site, "view": "home"}}
    return *unmarked(params, rng), ("add", MARKS, mark)


def in_a_tab(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """The site waits in a tab behind the one in front."""
    sites = rng.sample([params["site"], *others(params, rng, rng.randint(2, 4))], 3)
    sites = sites if params["site"] in sites else [params["site"], *sites]
    tabs = [tab(number, site) for number, site in enumerate(rng.sample(sites, len(sites)), 1)]
    shown = next(t["id"] for t in tabs if t["history"][0]["site"] != params["site"])
    return ("set", TABS, tabs), ("set", "browser/recent", shown)


# --- rules --------------------------------------------------------------------------------------


def shows_site(ending: Ending) -> bool:
    return ending.shows("browser", "web", site=ending.params["site"])


def shows_privately(ending: Ending) -> bool:
    """The site is in front in a new private tab, the only tab that came and none went."""
    before, after = ending.before["browser"]["tabs"], ending.after["browser"]["tabs"]
    kept = {t["id"] for t in before}
    new = [t for t in after if t["id"] not in kept]
    here = find(after, id=ending.page["args"].get("tab")) or {}
    return shows_site(ending) and len(after) == len(before) + 1 and new == [here] and here["private"]


def shows_results(ending: Ending) -> bool:
    found = ending.shows("browser", "web", site="find", view="results")
    return found and same(ending.page["args"]["query"], ending.params["query"])


def titles(marks: list[Tree]) -> list[str]:
    return [mark["title"] for mark in marks]


def is_marked(ending: Ending) -> bool:
    before, after = ending.before["browser"]["bookmarks"], ending.after["browser"]["bookmarks"]
    return titles(after) == [*titles(before), ending.params["site"].capitalize()]


def is_unmarked(ending: Ending) -> bool:
    before, after = ending.before["browser"]["bookmarks"], ending.after["browser"]["bookmarks"]
    name = ending.params["site"].capitalize()
    return titles(after) == [title for title in titles(before) if title != name]


def is_closed(ending: Ending) -> bool:
    before, after = ending.before["browser"]["tabs"], ending.after["browser"]["tabs"]
    kept = [t["id"] for t in before if t["history"][-1]["site"] != ending.params["site"]]
    return [t["id"] for t in after] == kept


def tells(fact: str) -> Callable[[Ending], bool]:
    """The answer is what the page of the place to visit says."""
    return lambda ending: same(ending.answer, ending.before["browser"]["venues"][ending.params["venue"]][fact])


# --- oracles ------------------------------------------------------------------------------------


def enter_address(ui: ScreenDriver, text: str) -> Oracle:
    """The address bar is the uppermost field."""
    yield from ui.clear_popups()
    bar = min((e for e in ui.screen.elements if e.role == "field"), key=lambda e: e.bounds[1])
    yield ui.touch(bar)
    yield from ui.clear_popups()
    yield Type(text)
    yield from ui.clear_popups()
    yield Press("enter")
    yield from ui.clear_popups()


def search(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from enter_address(ui, params["query"])
    yield Done()


def visit(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from enter_address(ui, f"{params['site']}.com")
    yield Done()


def visit_privately(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from ui.tap("Menu")
    yield from ui.tap("New private tab")
    yield from enter_address(ui, f"{params['site']}.com")
    yield Done()


def mark(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from enter_address(ui, f"{params['site']}.com")
    yield from ui.tap("Menu")
    yield from ui.tap("Add bookmark")
    yield Done()


def open_mark(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from ui.tap("Menu")
    yield from ui.tap("Bookmarks")
    yield from ui.tap(params["site"], "row")
    yield Done()


def unmark(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from ui.tap("Menu")
    yield from ui.tap("Bookmarks")
    yield from ui.tap("Delete bookmarks")
    yield from ui.tap(params["site"], "row")
    yield Done()


def switch(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from ui.tap("Tabs")
    yield from ui.tap(params["site"], "row")
    yield Done()


def close(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from ui.tap("Tabs")
    yield from ui.tap("Close tabs")
    yield from ui.tap(params["site"], "row")
    yield Done()


def ask_capital(ui: ScreenDriver, params: Params) -> Oracle:
    yield from ui.open_app("Browser")
    yield from enter_address(ui, f"capital of {params['country']}")
    city = CAPITALS[params["country"]]
    yield from ui.reveal(city)
    yield Answer(city)


def look_up(fact: str) -> Callable[[ScreenDriver, Params], Oracle]:
    def oracle(ui: ScreenDriver, params: Params) -> Oracle:
        yield from ui.open_app("Browser")
        yield from enter_address(ui, params["venue"])
        yield from ui.tap(params["venue"], "row")
        value = ui.state["browser"]["venues"][params["venue"]][fact]
        yield from ui.reveal(value)
        yield Answer(value)

    return oracle


TEMPLATES: tuple[Template, ...] = (
    Template(
        name="browser/search",
        app="browser",
        phrasings=("Search the web for {query}", "Look for {query} on the web", "Open the browser and search {query}"),
        space={"query": QUERIES},
        start=elsewhere,
        check=shows_results,
        oracle=search,
        max_steps=12,
    ),
    Template(
        name="browser/visit",
        app="browser",
        phrasings=("Go to {site}.com", "Open {site}.com in the browser", "Visit the site {site}.com"),
        space=SITE,
        start=elsewhere,
        check=shows_site,
        oracle=visit,
        max_steps=12,
    ),
    Template(
        name="browser/private",
        app="browser",
        phrasings=(
            "Open a private tab and go to {site}.com",
            "Go to {site}.com in a new private tab",
            "Visit {site}.com in a private tab",
        ),
        space=SITE,
        start=elsewhere,
        check=shows_privately,
        oracle=visit_privately,
        max_steps=15,
        may_change=(TABS,),
    ),
    Template(
        name="browser/bookmark",
        app="browser",
        phrasings=("Bookmark {site}.com", "Go to {site}.com and add a bookmark", "Add a bookmark for {site}.com"),
        space=SITE,
        start=unmarked,
        check=is_marked,
        oracle=mark,
        max_steps=15,
        may_change=(MARKS,),
    ),
    Template(
        name="browser/unmark",
        app="browser",
        phrasings=(
            "Delete the bookmark of {site}.com",
            "Remove {site} from the bookmarks of the browser",
            "Delete the browser bookmark {site}",
        ),
        space=SITE,
        start=marked,
        check=is_unmarked,
        oracle=unmark,
        max_steps=13,
        may_change=(MARKS,),
    ),
    Template(
        name="browser/open_bookmark",
        app="browser",
        phrasings=(
            "Open my bookmark {site} in the browser",
            "Use the bookmark to go to the site {site}",
            "Go to the bookmarks and open {site}",
        ),
        space=SITE,
        start=marked,
        check=shows_site,
        oracle=open_mark,
        max_steps=12,
    ),
    Template(
        name="browser/close_tab",
        app="browser",
        phrasings=("Close the tab with {site}.com", "Close the browser tab {site}", "Close my tab of the site {site}"),
        space=SITE,
        start=in_a_tab,
        check=is_closed,
        oracle=close,
        max_steps=12,
        may_change=(TABS,),
    ),
    Template(
        name="browser/switch_tab",
        app="browser",
        phrasings=(
            "Switch to the tab with {site}.com",
            "Show the browser tab {site}",
            "Go back to my open tab of the site {site}",
        ),
        space=SITE,
        start=in_a_tab,
        check=lambda ending: (
            shows_site(ending) and ending.before["browser"]["recent"] != ending.after["browser"]["recent"]
        ),
        oracle=switch,
        max_steps=11,
        held_out=True,
    ),
    Template(
        name="browser/capital",
        app="browser",
        phrasings=(
            "What is the capital of {country}?",
            "Look up the capital of {country} on the web",
            "Search the web for the capital of {country} and answer",
        ),
        space={"country": tuple(CAPITALS)},
        start=elsewhere,
        check=lambda ending: same(ending.answer, CAPITALS[ending.params["country"]]),
        oracle=ask_capital,
        max_steps=12,
    ),
    Template(
        name="browser/opens",
        app="browser",
        phrasings=(
            "When does the {venue} open?",
            "Look up on the web when the {venue} opens",
            "Find out the time the {venue} opens",
        ),
        space=VENUE,
        start=elsewhere,
        check=tells("opens"),
        oracle=look_up("opens"),
        max_steps=15,
    ),
    Template(
        name="browser/ticket",
        app="browser",
        phrasings=(
            "How much is a ticket for the {venue}?",
            "Look up the ticket price of the {venue} on the web",
            "What does a {venue} ticket cost?",
        ),
        space=VENUE,
        start=elsewhere,
        check=tells("ticket"),
        oracle=look_up("ticket"),
        max_steps=15,
    ),
)
