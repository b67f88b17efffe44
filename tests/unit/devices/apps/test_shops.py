"""The shop sites, each by its own layout."""

from __future__ import annotations

import pytest

from distrl.devices.sim.apps.web.goods import stock
from distrl.devices.sim.apps.web.shops import SHOPS
from distrl.types import Swipe


def enter_shop(finger, site, query):
    finger.write("Search or visit", f"{site}.com")
    finger.enter()
    finger.write(f"Search {SHOPS[site].title}", query)
    finger.enter()


def every_product(finger):
    """Titles in the order in which scrolling shows them."""
    seen: dict[str, None] = {}
    for _ in range(12):
        seen |= dict.fromkeys(t for role in ("row", "card") for t in finger.texts(role))
        finger.phone.perform(Swipe(500, 700, 500, 400))
    return list(seen)


def open_choice(finger, kind, label):
    """Make a choice, behind whatever this shop puts in front of it."""
    if "Sort and filter" in finger.texts("button"):
        finger.tap("Sort and filter")
        finger.tap(label)
        finger.tap("Apply")
    elif kind in finger.texts("button") or kind in finger.texts("chip"):
        finger.tap(kind)
        finger.tap(label)
        finger.tap("Close")
    else:
        finger.tap(label)


@pytest.mark.parametrize("site", SHOPS)
def test_results_are_longer_than_the_screen_and_sort_by_price(use, site):
    finger = use("browser")
    enter_shop(finger, site, "lamp")
    goods = stock(finger.data["shops"][site], site, "lamp")
    assert len([t for role in ("row", "card") for t in finger.texts(role)]) < len(goods)
    open_choice(finger, "Sort", "Low price")
    assert every_product(finger) == [p["title"] for p in sorted(goods, key=lambda p: p["price"])]


@pytest.mark.parametrize("site", SHOPS)
def test_a_filter_leaves_only_its_brand(use, site):
    finger = use("browser")
    enter_shop(finger, site, "tent")
    goods = stock(finger.data["shops"][site], site, "tent")
    brand = goods[0]["brand"]
    open_choice(finger, "Filter", brand)
    assert every_product(finger) == [p["title"] for p in goods if p["brand"] == brand]


@pytest.mark.parametrize("site", SHOPS)
def test_the_cart_holds_what_was_added_in_the_number_chosen(use, site):
    finger = use("browser")
    enter_shop(finger, site, "red bike")
    finger.tap("Red bike", "row" if SHOPS[site].results == "rows" else "card")
    finger.tap("L", "chip")
    finger.tap("Increase Quantity")
    finger.tap("Add to cart")
    cart = finger.data["shops"][site]["cart"]
    assert cart == [{"title": "Red bike", "size": "L", "count": 2}]
    finger.tap("Cart")
    finger.tap("Red bike", "row")
    finger.tap("Decrease Count")
    assert cart[0]["count"] == 1
    finger.tap("Remove")
    assert cart == []


def test_shops_differ_in_price_and_phones_differ_in_stock(use):
    shelves = [
        [(p["title"], p["price"]) for p in stock(use("browser", seed).data["shops"][site], site, "lamp")]
        for seed in (1, 2)
        for site in SHOPS
    ]
    assert all(shelves.count(shelf) == 1 for shelf in shelves)


def test_an_order_empties_the_cart_and_is_remembered(use):
    finger = use("browser")
    entry = {"title": "Blue cup", "size": "M", "count": 1}
    finger.data["shops"]["homely"]["cart"].append(entry)
    finger.write("Search or visit", "homely.com")
    finger.enter()
    finger.tap("Cart")
    finger.tap("Check out")
    assert finger.data["shops"]["homely"]["cart"] == []
    assert finger.data["shops"]["homely"]["orders"] == [[entry]]
