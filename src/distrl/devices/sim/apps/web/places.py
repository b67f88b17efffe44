"""Where a tab can be: a place is a plain dict {"site", "view", …} that a frame carries as its arguments."""

from __future__ import annotations

from typing import Any

from distrl.devices.sim.apps.web.facts import COUNTRIES, VENUES
from distrl.devices.sim.apps.web.shops import SHOPS
from distrl.types import Tree

PAPERS = ("news", "sports", "movies", "travel", "recipes", "science")
"""Sites with articles."""
NEW_TAB: Tree = {"site": "newtab", "view": "home"}
SITES = ("find", *PAPERS, *VENUES, *SHOPS)
"""Every site with an address of its own."""


def place(site: str, view: str = "home", **rest: Any) -> Tree:
    return {"site": site, "view": view, **rest}


def title_of(where: Tree) -> str:
    """The name a tab or a bookmark has."""
    site = str(where["site"])
    if site == "newtab":
        return "New tab"
    if where["view"] in ("results", "answer", "article"):
        return str(where.get("query") or where.get("topic"))
    return SHOPS[site].title if site in SHOPS else site.capitalize()


def address_of(where: Tree) -> str:
    """What the address bar shows."""
    return "" if where["site"] == "newtab" else f"{where['site']}.com"


def resolve(text: str) -> Tree:
    """Where typed text leads: to a site if it is an address, else to the search engine."""
    name = text.strip().casefold().removeprefix("https://").removeprefix("www.").rstrip("/")
    if name.endswith(".com") and name[:-4] in SITES:
        return place(name[:-4])
    return place("find", "results", query=text.strip())


def documents() -> dict[str, Tree]:
    """All that the search engine knows, by title."""
    sites = {title_of(place(site)): place(site) for site in SITES if site != "find"}
    return sites | {country: place("find", "article", topic=country) for country in COUNTRIES}
