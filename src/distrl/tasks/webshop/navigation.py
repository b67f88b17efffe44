"""Navigation of the shops: start states, and steps that oracles share."""

from __future__ import annotations

import random

from distrl.tasks.base import Edit, Oracle, Params, ScreenDriver
from distrl.tasks.webshop.goods import OTHER_SITES, SHOPS, title_of

NEW_TAB = {"id": 1, "private": False, "history": [{"site": "newtab", "view": "home"}]}


# --- start states -------------------------------------------------------------------------------


def away(shop: str, rng: random.Random) -> tuple[Edit, ...]:
    """An empty tab, on the home screen or already in front; the shop may be among the shortcuts."""
    others = [site for site in (*SHOPS, *OTHER_SITES) if site != shop]
    sites = rng.sample(others, 7) + ([shop] if rng.random() < 0.5 else [])
    return (*tabs(rng, sites), *((("open", "browser", "web"),) if rng.random() < 0.3 else ()))


def near(shop: str, rng: random.Random) -> tuple[Edit, ...]:
    """As `away`, with the shop among the shortcuts or its front page in front: for tasks that are long themselves."""
    others = [site for site in (*SHOPS, *OTHER_SITES) if site != shop]
    edits = tabs(rng, [*rng.sample(others, 7), shop])
    chance = rng.random()
    if chance < 0.4:
        return edits
    place = ({"tab": 1, "site": shop, "view": "home"},) if chance < 0.8 else ()
    return *edits, ("open", "browser", "web", *place)


def tabs(rng: random.Random, shortcuts: list[str]) -> tuple[Edit, ...]:
    return (
        ("set", "browser/tabs", [NEW_TAB]),
        ("set", "browser/recent", 1),
        ("set", "browser/shortcuts", rng.sample(shortcuts, len(shortcuts))),
    )


# --- the oracle's steps -------------------------------------------------------------------------


def go_to(ui: ScreenDriver, shop: str) -> Oracle:
    """To the front page: at once if it is in front, by its shortcut if one is in sight, else by its address."""
    yield from ui.clear_popups()
    if ui.sees(f"{shop}.com", "field"):
        return
    if ui.screen.foreground != "browser":
        yield from ui.open_app("Browser")
    if ui.sees(shop, "icon"):
        yield from ui.tap(shop, "icon")
    else:
        yield from ui.write("Search or visit", f"{shop}.com", enter=True)


def search(ui: ScreenDriver, shop: str, query: str) -> Oracle:
    yield from go_to(ui, shop)
    yield from ui.write(f"Search {shop}", query, enter=True)


def open_product(ui: ScreenDriver, shop: str, params: Params) -> Oracle:
    yield from search(ui, shop, params["noun"])
    yield from ui.tap(title_of(params["look"], params["noun"]))


def open_cart(ui: ScreenDriver, shop: str) -> Oracle:
    yield from go_to(ui, shop)
    yield from ui.tap("Cart")


def sort(ui: ScreenDriver, label: str) -> Oracle:
    """By whatever this shop offers: a page of its own, a dialog, or a choice above the list."""
    if ui.sees("Sort and filter", "button"):
        yield from ui.tap("Sort and filter", "button")
        yield from ui.tap(label)
        yield from ui.tap("Apply", "button")
    elif ui.sees("Sort", "button"):
        yield from ui.tap("Sort", "button")
        yield from ui.tap(label)
        yield from ui.tap("Close", "button")
    else:
        yield from ui.tap(label)


def narrow(ui: ScreenDriver, label: str) -> Oracle:
    """Choose a filter, behind whatever leads to it."""
    paged = ui.sees("Sort and filter", "button")
    yield from ui.tap("Sort and filter" if paged else "Filter")
    yield from ui.tap(label, "chip")
    yield from ui.tap("Apply" if paged else "Close", "button")
