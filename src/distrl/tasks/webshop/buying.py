"""Level 3, taking: fill the cart, and change what is in it."""

from __future__ import annotations

import random
from typing import Any

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.webshop import navigation
from distrl.tasks.webshop.goods import PRODUCT, entries, title_of
from distrl.tasks.webshop.navigation import near
from distrl.types import Done, Tree


def wanted_title(params: Params) -> str:
    return title_of(params["look"], params["noun"])


# --- start states -------------------------------------------------------------------------------


def other_things(shop: str, params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """Up to two things in the cart already, none of them a thing of this kind."""
    cart = entries(rng, rng.randint(0, 2), without=params["noun"])
    return ("set", f"browser/shops/{shop}/cart", cart), *near(shop, rng)


def in_the_cart(shop: str, params: Params, rng: random.Random) -> tuple[Edit, ...]:
    """The product is in the cart, among others, in a number that is not the one asked for."""
    asked = params.get("count")
    count = rng.choice([number for number in range(1, 5) if number != asked])
    cart = [
        *entries(rng, rng.randint(2, 4), without=params["noun"]),
        {"title": wanted_title(params), "size": "M", "count": count},
    ]
    return ("set", f"browser/shops/{shop}/cart", rng.sample(cart, len(cart))), *near(shop, rng)


# --- rules --------------------------------------------------------------------------------------


def carts(ending: Ending, shop: str) -> tuple[list[Tree], list[Tree]]:
    before, after = (state["browser"]["shops"][shop]["cart"] for state in (ending.before, ending.after))
    return before, after


def added(ending: Ending, shop: str, **asked: Any) -> bool:
    """One entry is new, of this product and as asked; the rest is as it was."""
    before, after = carts(ending, shop)
    new = {"title": wanted_title(ending.params), "count": 1, **asked}
    return (
        len(after) == len(before) + 1
        and after[:-1] == before
        and all(after[-1][key] == value for key, value in new.items())
    )


def removed(ending: Ending, shop: str) -> bool:
    before, after = carts(ending, shop)
    return after == [entry for entry in before if entry["title"] != wanted_title(ending.params)]


def counted(ending: Ending, shop: str) -> bool:
    before, after = carts(ending, shop)
    title, count = wanted_title(ending.params), ending.params["count"]
    return after == [{**entry, "count": count} if entry["title"] == title else entry for entry in before]


# --- oracles ------------------------------------------------------------------------------------


def buy(ui: ScreenDriver, shop: str, params: Params) -> Oracle:
    yield from navigation.open_product(ui, shop, params)
    if "size" in params:
        yield from ui.tap(params["size"], "chip")
    for _ in range(params.get("count", 1) - 1):
        yield from ui.tap("Increase Quantity", "button")
    yield from ui.tap("Add to cart", "button")
    yield Done()


def remove(ui: ScreenDriver, shop: str, params: Params) -> Oracle:
    yield from navigation.open_cart(ui, shop)
    yield from ui.tap(wanted_title(params), "row")
    yield from ui.tap("Remove", "button")
    yield Done()


def count(ui: ScreenDriver, shop: str, params: Params) -> Oracle:
    yield from navigation.open_cart(ui, shop)
    yield from ui.tap(wanted_title(params), "row")
    while not ui.sees(str(params["count"]), "text"):
        cart = ui.state["browser"]["shops"][shop]["cart"]
        held = next(entry["count"] for entry in cart if entry["title"] == wanted_title(params))
        yield from ui.tap(f"{'Increase' if held < params['count'] else 'Decrease'} Count", "button")
    yield from ui.tap("Close", "button")
    yield Done()


# --- templates ----------------------------------------------------------------------------------


def templates(shop: str) -> tuple[Template, ...]:
    cart = (f"browser/shops/{shop}/cart",)
    return *adding(shop, cart), *changing(shop, cart)


def adding(shop: str, cart: tuple[str, ...]) -> tuple[Template, ...]:
    return (
        Template(
            name=f"{shop}/add",
            app=shop,
            phrasings=(
                f"Add the {{look}} {{noun}} to the cart on {shop}.com",
                f"Go to {shop}.com, find the {{look}} {{noun}} and add it to the cart",
                f"Put a {{look}} {{noun}} in my cart on {shop}.com",
            ),
            space=PRODUCT,
            start=lambda params, rng: other_things(shop, params, rng),
            check=lambda ending: added(ending, shop),
            oracle=lambda ui, params: buy(ui, shop, params),
            max_steps=20,
            may_change=cart,
        ),
        Template(
            name=f"{shop}/add_several",
            app=shop,
            phrasings=(
                f"Add the {{look}} {{noun}} to the cart on {shop}.com, quantity {{count}}",
                f"Go to {shop}.com and add {{count}} of the {{look}} {{noun}} to the cart",
                f"Put {{count}} pieces of the {{look}} {{noun}} in my cart on {shop}.com",
            ),
            space={**PRODUCT, "count": (2, 3)},
            start=lambda params, rng: other_things(shop, params, rng),
            check=lambda ending: added(ending, shop, count=ending.params["count"]),
            oracle=lambda ui, params: buy(ui, shop, params),
            max_steps=20,
            may_change=cart,
        ),
        Template(
            name=f"{shop}/add_size",
            app=shop,
            phrasings=(
                f"Add the {{look}} {{noun}} in size {{size}} to the cart on {shop}.com",
                f"Go to {shop}.com and add the {{look}} {{noun}} to the cart, size {{size}}",
                f"Put a {{look}} {{noun}} of size {{size}} in my cart on {shop}.com",
            ),
            space={**PRODUCT, "size": ("S", "L")},
            start=lambda params, rng: other_things(shop, params, rng),
            check=lambda ending: added(ending, shop, size=ending.params["size"]),
            oracle=lambda ui, params: buy(ui, shop, params),
            max_steps=20,
            may_change=cart,
        ),
    )


def changing(shop: str, cart: tuple[str, ...]) -> tuple[Template, ...]:
    return (
        Template(
            name=f"{shop}/remove",
            app=shop,
            phrasings=(
                f"Remove the {{look}} {{noun}} from the cart on {shop}.com",
                f"Take the {{look}} {{noun}} out of my cart on {shop}.com",
                f"Go to the cart on {shop}.com and remove the {{look}} {{noun}}",
            ),
            space=PRODUCT,
            start=lambda params, rng: in_the_cart(shop, params, rng),
            check=lambda ending: removed(ending, shop),
            oracle=lambda ui, params: remove(ui, shop, params),
            max_steps=16,
            may_change=cart,
        ),
        Template(
            name=f"{shop}/count",
            app=shop,
            phrasings=(
                f"Change the quantity of the {{look}} {{noun}} in my cart on {shop}.com to {{count}}",
                f"Go to the cart on {shop}.com and set the quantity of the {{look}} {{noun}} to {{count}}",
                f"I want {{count}} of the {{look}} {{noun}} in my cart on {shop}.com, change the quantity",
            ),
            space={**PRODUCT, "count": (1, 2, 3, 4)},
            start=lambda params, rng: in_the_cart(shop, params, rng),
            check=lambda ending: counted(ending, shop),
            oracle=lambda ui, params: count(ui, shop, params),
            max_steps=18,
            may_change=cart,
            held_out=True,
        ),
    )
