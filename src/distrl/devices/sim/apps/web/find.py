"""The search engine, articles, places to visit and the other sites that only are read."""

from __future__ import annotations

import random

from distrl.devices.sim.apps.base import Context
from distrl.devices.sim.apps.web.facts import ASPECTS, COUNTRIES, VENUES, answer_to
from distrl.devices.sim.apps.web.places import address_of, documents, place, title_of
from distrl.devices.sim.ui import Divider, Field, Icon, IconGrid, Picture, Row, Text, Widget
from distrl.types import Tree

FILLERS = 5
"""Results that have nothing to do with the query."""
GLYPHS = ("globe", "star", "home", "tag", "cart", "book")
HEADLINES = (
    "Storm on the way", "Local team wins", "New bridge opens", "Best soup of the year", "A walk by the sea",
    "Schools open late", "Old train runs again", "Prices go down", "Night of the stars", "How to sleep well",
)  # fmt: skip


def new_tab(ctx: Context, private: bool) -> tuple[Widget, ...]:
    if private:
        return (Text("Private tab", "title"), Text("Pages you visit here are not kept in your history."))
    icons = tuple(shortcut(site) for site in ctx.data["shortcuts"])
    stories = tuple(Row(line, icon="note", tap=("visit", place("news"))) for line in headlines(ctx, "newtab"))
    return (Text("Shortcuts", "heading"), IconGrid(icons), Divider(), Text("Stories", "heading"), *stories)


def shortcut(site: str) -> Icon:
    where = place(site)
    return Icon(GLYPHS[len(site) % len(GLYPHS)], title_of(where), ("visit", where))


def front(ctx: Context) -> tuple[Widget, ...]:
    return (Picture("find"), Text("Find", "title"), Field("query", "Search the web", "search"))


def results(ctx: Context, query: str) -> tuple[Widget, ...]:
    answer = answer_to(query)
    box = (Text(answer[1], "title"), Text(answer[0], "caption"), Divider()) if answer else ()
    links = tuple(
        Row(title, address_of(where), "globe", tap=("visit", where)) for title, where in ranked(ctx, query).items()
    )
    return (Text(f"Results for {query}", "caption"), *box, *links)


def ranked(ctx: Context, query: str) -> dict[str, Tree]:
    """Pages that share a word with the query, among a few others; the order is the phone's own."""
    known = documents()
    words = set(query.casefold().replace("?", " ").split())
    hits = [title for title in known if title.casefold() in words]
    rng = random.Random(f"{ctx.data['seed']}/{query.casefold()}")
    titles = hits + rng.sample([title for title in known if title not in hits], FILLERS)
    return {title: known[title] for title in rng.sample(titles, len(titles))}


def article(topic: str) -> tuple[Widget, ...]:
    rows = tuple(Row(a.capitalize(), icon="info", value=v) for a, v in zip(ASPECTS, COUNTRIES[topic], strict=True))
    return (Text(topic, "title"), Picture(topic), *rows)


def venue(ctx: Context, name: str) -> tuple[Widget, ...]:
    facts = ctx.data["venues"][name]
    rows = tuple(Row(key.capitalize(), icon="info", value=facts[key]) for key in ("opens", "closes", "ticket"))
    return (Picture(name), Text(f"City {name}", "title"), Text("Welcome! We are open every day."), *rows)


def paper(ctx: Context, name: str) -> tuple[Widget, ...]:
    lines = tuple(
        Row(line, icon="note", tap=("snack", "This story is for members only")) for line in headlines(ctx, name)
    )
    return (Text(name.capitalize(), "title"), Picture(name), *lines)


def headlines(ctx: Context, name: str) -> list[str]:
    return random.Random(f"{ctx.data['seed']}/{name}").sample(HEADLINES, 6)


def body(ctx: Context, where: Tree, private: bool) -> tuple[Widget, ...]:
    """The page of any site that is not a shop."""
    site, view = where["site"], where["view"]
    if site == "newtab":
        return new_tab(ctx, private)
    if view == "results":
        return results(ctx, where["query"])
    if view == "article":
        return article(where["topic"])
    if site == "find":
        return front(ctx)
    return venue(ctx, site) if site in VENUES else paper(ctx, site)
