"""How a person gets about in the shops: start states on the way there, and the oracle's steps."""

from __future__ import annotations

import random

from distrl.tasks.base import Edit, Hand, Oracle, Params
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


def go_to(hand: Hand, shop: str) -> Oracle:
    """To the front page: at once if it is in front, by its shortcut if one is in sight, else by its address."""
    yield from hand.clear_popups()
    if hand.sees(f"{shop}.com", "field"):
        return
    if hand.screen.foreground != "browser":
        yield from hand.open_app("Browser")
    if hand.sees(shop, "icon"):
        yield from hand.tap(shop, "icon")
    else:
        yield from hand.write("Search or visit", f"{shop}.com", enter=True)


def search(hand: Hand, shop: str, query: str) -> Oracle:
    yield from go_to(hand, shop)
    yield from hand.write(f"Search {shop}", query, enter=True)


def open_product(hand: Hand, shop: str, params: Params) -> Oracle:
    yield from search(hand, shop, params["noun"])
    yield from hand.tap(title_of(params["look"], params["noun"]))


def open_cart(hand: Hand, shop: str) -> Oracle:
    yield from go_to(hand, shop)
    yield from hand.tap("Cart")


def sort(hand: Hand, label: str) -> Oracle:
    """By whatever this shop offers: a page of its own, a dialog, or a choice above the list."""
    if hand.sees("Sort and filter", "button"):
        yield from hand.tap("Sort and filter", "button")
        yield from hand.tap(label)
        yield from hand.tap("Apply", "button")
    elif hand.sees("Sort", "button"):
        yield from hand.tap("Sort", "button")
        yield from hand.tap(label)
        yield from hand.tap("Close", "button")
    else:
        yield from hand.tap(label)


def narrow(hand: Hand, label: str) -> Oracle:
    """Choose a filter, behind whatever leads to it."""
    paged = hand.sees("Sort and filter", "button")
    yield from hand.tap("Sort and filter" if paged else "Filter")
    yield from hand.tap(label, "chip")
    yield from hand.tap("Apply" if paged else "Close", "button")
