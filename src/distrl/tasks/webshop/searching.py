"""Level 2: find goods on the site, in the order asked for."""

from __future__ import annotations

from typing import Any

from distrl.tasks.base import Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.webshop import navigation
from distrl.tasks.webshop.goods import BRANDS, LOOKS, NOUNS, ORDERS
from distrl.tasks.webshop.navigation import away, near
from distrl.types import Done

CHOICES = {"sort": "", "brand": "", "under": 0, "rated": 0}
"""What a list of results can be narrowed by, and what stands for no choice."""


def results(ending: Ending, shop: str, query: str, **chosen: Any) -> bool:
    """The shop's results for the query are in front, with these choices made and no others."""
    if not ending.shows("browser", "web", site=shop, view="results"):
        return False
    args = ending.page["args"]
    wanted = {**CHOICES, **chosen}
    return args["query"].casefold().split() == query.casefold().split() and all(
        args.get(key, nothing) == wanted[key] for key, nothing in CHOICES.items()
    )


# --- oracles ------------------------------------------------------------------------------------


def search(ui: ScreenDriver, shop: str, query: str) -> Oracle:
    yield from navigation.search(ui, shop, query)
    yield Done()


def sort(ui: ScreenDriver, shop: str, params: Params) -> Oracle:
    yield from navigation.search(ui, shop, params["noun"])
    yield from navigation.sort(ui, params["order"])
    yield Done()


def narrow(ui: ScreenDriver, shop: str, params: Params) -> Oracle:
    yield from navigation.search(ui, shop, params["noun"])
    yield from navigation.narrow(ui, label(params))
    yield Done()


def label(params: Params) -> str:
    """What the filter is called on the page."""
    if "brand" in params:
        return str(params["brand"])
    return f"${params['under']}" if "under" in params else f"{params['stars']} stars"


# --- templates ----------------------------------------------------------------------------------


def templates(shop: str) -> tuple[Template, ...]:
    return *finding(shop), *narrowing(shop)


def finding(shop: str) -> tuple[Template, ...]:
    return (
        Template(
            name=f"{shop}/search",
            app=shop,
            phrasings=(
                f"Search for {{noun}} on {shop}.com",
                f"Go to {shop}.com and search for {{noun}}",
                f"Look for {{noun}} on {shop}.com",
            ),
            space={"noun": NOUNS},
            start=lambda params, rng: away(shop, rng),
            check=lambda ending: results(ending, shop, ending.params["noun"]),
            oracle=lambda ui, params: search(ui, shop, params["noun"]),
            max_steps=18,
        ),
        Template(
            name=f"{shop}/search_look",
            app=shop,
            phrasings=(
                f"Search for {{look}} {{noun}} on {shop}.com",
                f"Go to {shop}.com and search for {{look}} {{noun}}",
                f"Look for {{look}} {{noun}} on {shop}.com",
            ),
            space={"look": LOOKS, "noun": NOUNS},
            start=lambda params, rng: away(shop, rng),
            check=lambda ending: results(ending, shop, f"{ending.params['look']} {ending.params['noun']}"),
            oracle=lambda ui, params: search(ui, shop, f"{params['look']} {params['noun']}"),
            max_steps=18,
        ),
        Template(
            name=f"{shop}/sort",
            app=shop,
            phrasings=(
                f"Search for {{noun}} on {shop}.com and sort by {{order}}",
                f"On {shop}.com, look for {{noun}} and sort the results by {{order}}",
                f"Show {{noun}} results on {shop}.com in the order {{order}}",
            ),
            space={"noun": NOUNS, "order": ORDERS},
            start=lambda params, rng: near(shop, rng),
            check=lambda ending: results(ending, shop, ending.params["noun"], sort=ending.params["order"].capitalize()),
            oracle=lambda ui, params: sort(ui, shop, params),
            max_steps=20,
        ),
    )


def narrowing(shop: str) -> tuple[Template, ...]:
    return (
        Template(
            name=f"{shop}/brand",
            app=shop,
            phrasings=(
                f"Search for {{noun}} on {shop}.com and show only the brand {{brand}}",
                f"On {shop}.com, look for {{noun}} and filter by the brand {{brand}}",
                f"Show only {{brand}} in the {{noun}} results on {shop}.com",
            ),
            space={"noun": NOUNS, "brand": BRANDS},
            start=lambda params, rng: near(shop, rng),
            check=lambda ending: results(ending, shop, ending.params["noun"], brand=ending.params["brand"]),
            oracle=lambda ui, params: narrow(ui, shop, params),
            max_steps=20,
        ),
        Template(
            name=f"{shop}/under",
            app=shop,
            phrasings=(
                f"Search for {{noun}} on {shop}.com and filter by price under ${{under}}",
                f"On {shop}.com, look for {{noun}} under ${{under}} with the filter",
                f"Show only {{noun}} results under ${{under}} on {shop}.com",
            ),
            space={"noun": NOUNS, "under": (20, 50, 100)},
            start=lambda params, rng: near(shop, rng),
            check=lambda ending: results(ending, shop, ending.params["noun"], under=ending.params["under"]),
            oracle=lambda ui, params: narrow(ui, shop, params),
            max_steps=20,
        ),
        Template(
            name=f"{shop}/stars",
            app=shop,
            phrasings=(
                f"Search for {{noun}} on {shop}.com and filter by at least {{stars}} stars",
                f"On {shop}.com, look for {{noun}} with a rating of at least {{stars}} stars",
                f"Show only {{noun}} results with at least {{stars}} stars on {shop}.com",
            ),
            space={"noun": NOUNS, "stars": (3, 4)},
            start=lambda params, rng: near(shop, rng),
            check=lambda ending: results(ending, shop, ending.params["noun"], rated=ending.params["stars"]),
            oracle=lambda ui, params: narrow(ui, shop, params),
            max_steps=20,
            held_out=True,
        ),
    )
