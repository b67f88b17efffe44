"""The words of the shops, and goods for a shop's shelf. The simulated shops sell the same; a test keeps it so."""

from __future__ import annotations

import random

from distrl.types import Tree

SHOPS = ("shopmart", "pickbox", "dealbay", "homely", "goodcart", "buynest")
SECTIONS = ("House", "Kitchen", "Garden", "Sports", "Fashion", "Office", "Tech", "Toys")
PAGES = ("Help", "Returns", "Gifts", "Stores", "Jobs", "About", "Safety", "Contact")
NOUNS = (
    "lamp", "chair", "table", "mirror", "clock", "pan", "cup", "knife", "plate", "kettle",
    "shovel", "pot", "hose", "bench", "grill", "ball", "tent", "bike", "helmet", "racket",
    "shirt", "hat", "coat", "belt", "scarf", "pen", "desk", "printer", "folder", "stapler",
    "phone", "camera", "speaker", "keyboard", "tablet", "puzzle", "robot", "doll", "kite", "drum",
)  # fmt: skip
LOOKS = ("red", "blue", "green", "black", "white", "small", "large", "classic")
BRANDS = ("Nova", "Apex", "Luma", "Orion", "Delta", "Zen")
ORDERS = ("low price", "high price", "top rated")
OTHER_SITES = ("news", "sports", "movies", "travel", "recipes", "science", "museum", "zoo", "library", "theater")

PRODUCT = {"look": LOOKS, "noun": NOUNS}


def title_of(look: str, noun: str) -> str:
    return f"{look.capitalize()} {noun}"


def shelf(noun: str, rng: random.Random) -> list[Tree]:
    """Every look of a noun, in any order; no two at one price."""
    prices = rng.sample(range(6, 140), len(LOOKS))
    return [
        {
            "title": title_of(look, noun),
            "noun": noun,
            "brand": rng.choice(BRANDS),
            "price": price,
            "rating": rng.randint(2, 5),
        }
        for look, price in zip(rng.sample(LOOKS, len(LOOKS)), prices, strict=True)
    ]


def entries(rng: random.Random, count: int, without: str = "") -> list[Tree]:
    """Things in a cart: of different nouns, none of them this one."""
    nouns = rng.sample([noun for noun in NOUNS if noun != without], count)
    return [{"title": title_of(rng.choice(LOOKS), noun), "size": "M", "count": rng.randint(1, 3)} for noun in nouns]
