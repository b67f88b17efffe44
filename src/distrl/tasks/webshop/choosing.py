"""Level 3, looking: open a product, find out what it costs."""

from __future__ import annotations

import random

from distrl.tasks.base import Edit, Ending, Oracle, Params, ScreenDriver, Template
from distrl.tasks.webshop import navigation
from distrl.tasks.webshop.goods import NOUNS, PRODUCT, shelf, title_of
from distrl.tasks.webshop.navigation import near
from distrl.types import Answer, Done, Tree


def on_shelf(state: Tree, shop: str, params: Params) -> list[Tree]:
    goods: list[Tree] = state["browser"]["shops"][shop]["stock"][params["noun"]]
    return goods


def stocked(shop: str, params: Params, rng: random.Random) -> tuple[Edit, ...]:
    shelved = ("set", f"browser/shops/{shop}/stock/{params['noun']}", shelf(params["noun"], rng))
    return shelved, *near(shop, rng)


def price_of(state: Tree, shop: str, params: Params) -> int:
    title = title_of(params["look"], params["noun"])
    return int(next(product["price"] for product in on_shelf(state, shop, params) if product["title"] == title))


def cheapest(state: Tree, shop: str, params: Params) -> str:
    return str(min(on_shelf(state, shop, params), key=lambda product: product["price"])["title"])


def shows_product(ending: Ending, shop: str, title: str) -> bool:
    return ending.shows("browser", "web", site=shop, view="product", item=title)


def templates(shop: str) -> tuple[Template, ...]:
    def open_product(ui: ScreenDriver, params: Params) -> Oracle:
        yield from navigation.open_product(ui, shop, params)
        yield Done()

    def read_price(ui: ScreenDriver, params: Params) -> Oracle:
        yield from navigation.open_product(ui, shop, params)
        price = f"${price_of(ui.state, shop, params)}"
        yield from ui.reveal(price)
        yield Answer(price)

    def open_cheapest(ui: ScreenDriver, params: Params) -> Oracle:
        yield from navigation.search(ui, shop, params["noun"])
        yield from navigation.sort(ui, "Low price")
        yield from ui.tap(cheapest(ui.state, shop, params))
        yield Done()

    def says_price(ending: Ending) -> bool:
        return ending.answer.strip().lstrip("$") == str(price_of(ending.before, shop, ending.params))

    return (
        Template(
            name=f"{shop}/product",
            app=shop,
            phrasings=(
                f"Open the {{look}} {{noun}} on {shop}.com",
                f"Search {shop}.com for {{noun}} and open the {{look}} {{noun}}",
                f"Show the product page of the {{look}} {{noun}} on {shop}.com",
            ),
            space=PRODUCT,
            start=lambda params, rng: near(shop, rng),
            check=lambda ending: shows_product(ending, shop, title_of(ending.params["look"], ending.params["noun"])),
            oracle=open_product,
            max_steps=20,
        ),
        Template(
            name=f"{shop}/price",
            app=shop,
            phrasings=(
                f"How much is the {{look}} {{noun}} on {shop}.com?",
                f"Look up the price of the {{look}} {{noun}} on {shop}.com",
                f"What does the {{look}} {{noun}} cost on {shop}.com?",
            ),
            space=PRODUCT,
            start=lambda params, rng: stocked(shop, params, rng),
            check=says_price,
            oracle=read_price,
            max_steps=20,
        ),
        Template(
            name=f"{shop}/cheapest",
            app=shop,
            phrasings=(
                f"Open the {{noun}} with the lowest price on {shop}.com",
                f"Find the cheapest {{noun}} on {shop}.com and open it",
                f"Go to {shop}.com and open the cheapest {{noun}}",
            ),
            space={"noun": NOUNS},
            start=lambda params, rng: stocked(shop, params, rng),
            check=lambda ending: shows_product(ending, shop, cheapest(ending.before, shop, ending.params)),
            oracle=open_cheapest,
            max_steps=20,
            held_out=True,
        ),
    )
