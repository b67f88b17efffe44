"""What the search engine can answer: countries, and places to visit in town."""

from __future__ import annotations

import random

from distrl.types import Tree

COUNTRIES: dict[str, tuple[str, str, str]] = {
    "France": ("Paris", "French", "Euro"),
    "Germany": ("Berlin", "German", "Euro"),
    "Italy": ("Rome", "Italian", "Euro"),
    "Spain": ("Madrid", "Spanish", "Euro"),
    "Japan": ("Tokyo", "Japanese", "Yen"),
    "Egypt": ("Cairo", "Arabic", "Pound"),
    "Peru": ("Lima", "Spanish", "Sol"),
    "Norway": ("Oslo", "Norwegian", "Krone"),
    "Austria": ("Vienna", "German", "Euro"),
    "Greece": ("Athens", "Greek", "Euro"),
    "Ireland": ("Dublin", "English", "Euro"),
    "Russia": ("Moscow", "Russian", "Ruble"),
    "Portugal": ("Lisbon", "Portuguese", "Euro"),
    "Kenya": ("Nairobi", "English", "Shilling"),
    "Thailand": ("Bangkok", "Thai", "Baht"),
    "India": ("Delhi", "Hindi", "Rupee"),
}
ASPECTS = ("capital", "language", "money")
VENUES = ("museum", "zoo", "library", "theater", "pool", "gallery", "castle", "tower", "garden", "cinema")


def venue_facts(rng: random.Random) -> Tree:
    """Of one place to visit: when it opens and closes, what a ticket costs."""
    opens, closes = (f"{rng.randint(*hours)}:{rng.choice(('00', '30'))}" for hours in ((6, 11), (4, 10)))
    return {"opens": f"{opens} am", "closes": f"{closes} pm", "ticket": f"${rng.randint(2, 40)}"}


def answer_to(query: str) -> tuple[str, str] | None:
    """(what was asked, the answer) for a country's capital, language or money."""
    words = query.casefold().replace("?", " ").split()
    for country, values in COUNTRIES.items():
        for aspect, value in zip(ASPECTS, values, strict=True):
            if country.casefold() in words and aspect in words:
                return f"{aspect.capitalize()} of {country}", value
    return None
