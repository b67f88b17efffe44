"""What the shops sell: every noun in every look, at each shop's own prices, in its own order."""

from __future__ import annotations

import random
from collections.abc import Callable

from distrl.types import Tree

SECTIONS: dict[str, tuple[str, ...]] = {
    "House": ("lamp", "chair", "table", "mirror", "clock"),
    "Kitchen": ("pan", "cup", "knife", "plate", "kettle"),
    "Garden": ("shovel", "pot", "hose", "bench", "grill"),
    "Sports": ("ball", "tent", "bike", "helmet", "racket"),
    "Fashion": ("shirt", "hat", "coat", "belt", "scarf"),
    "Office": ("pen", "desk", "printer", "folder", "stapler"),
    "Tech": ("phone", "camera", "speaker", "keyboard", "tablet"),
    "Toys": ("puzzle", "robot", "doll", "kite", "drum"),
}
NOUNS = tuple(noun for nouns in SECTIONS.values() for noun in nouns)
LOOKS = ("Red", "Blue", "Green", "Black", "White", "Small", "Large", "Classic")
BRANDS = ("Nova", "Apex", "Luma", "Orion", "Delta", "Zen")
RATINGS = (2, 3, 4, 5)
SORTS: dict[str, Callable[[Tree], int]] = {
    "Low price": lambda product: int(product["price"]),
    "High price": lambda product: -int(product["price"]),
    "Top rated": lambda product: -int(product["rating"]),
}
SIZES = ("S", "M", "L")


def products(rng: random.Random, noun: str) -> list[Tree]:
    """All looks of a noun, shuffled; no two at one price."""
    prices = rng.sample(range(6, 140), len(LOOKS))
    return [
        {
            "title": f"{look} {noun}",
            "noun": noun,
            "brand": rng.choice(BRANDS),
            "price": price,
            "rating": rng.choice(RATINGS),
        }
        for look, price in zip(rng.sample(LOOKS, len(LOOKS)), prices, strict=True)
    ]


def stock(shop: Tree, site: str, noun: str) -> list[Tree]:
    """What a shop has of a noun. The phone's tree may hold it; else it follows from the shop's seed, so that six
    shops of 320 products each need no room in the tree."""
    held: list[Tree] | None = shop["stock"].get(noun)
    return held if held is not None else products(random.Random(f"{shop['seed']}/{site}/{noun}"), noun)


def named(shop: Tree, site: str, title: str) -> Tree:
    """The product with this title."""
    noun = title.split()[-1]
    return next(product for product in stock(shop, site, noun) if product["title"] == title)


def found(shop: Tree, site: str, query: str) -> list[Tree]:
    """What the shop's search finds: the nouns asked for, only in the looks or brands asked for if any are."""
    words = {word.rstrip("s") if word.rstrip("s") in NOUNS else word for word in query.casefold().split()}
    nouns = [noun for noun in NOUNS if noun in words]
    wanted = words - set(nouns)
    goods = [product for noun in nouns for product in stock(shop, site, noun)]
    fitting = [p for p in goods if wanted <= {p["brand"].casefold(), *p["title"].casefold().split()}]
    return fitting or goods


def sorted_by(goods: list[Tree], order: str) -> list[Tree]:
    """In one of the orders of SORTS; in the shop's own order if none is chosen."""
    return sorted(goods, key=SORTS[order]) if order else goods


def filtered(goods: list[Tree], brand: str, under: int, rated: int) -> list[Tree]:
    """Empty brand, 0 and 0 let everything through."""
    return [
        product
        for product in goods
        if brand in ("", product["brand"]) and (not under or product["price"] < under) and product["rating"] >= rated
    ]
