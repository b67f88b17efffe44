"""Level 1: go to the site, and to one of its pages."""

from __future__ import annotations

from functools import partial

from distrl.tasks.base import Oracle, Params, ScreenDriver, Template
from distrl.tasks.webshop.goods import PAGES, SECTIONS
from distrl.tasks.webshop.navigation import away, go_to
from distrl.types import Done


def open_link(key: str, shop: str, ui: ScreenDriver, params: Params) -> Oracle:
    """Sections look different in every shop, so any role will do."""
    yield from go_to(ui, shop)
    yield from ui.tap(params[key])
    yield Done()


def templates(shop: str) -> tuple[Template, ...]:
    return (
        Template(
            name=f"{shop}/page",
            app=shop,
            phrasings=(
                f"Go to the {{page}} page of {shop}.com",
                f"Open {shop}.com and go to its {{page}} page",
                f"Show the page {{page}} on {shop}.com",
            ),
            space={"page": PAGES},
            start=lambda params, rng: away(shop, rng),
            check=lambda ending: ending.shows("browser", "web", site=shop, view="info", name=ending.params["page"]),
            oracle=partial(open_link, "page", shop),
            max_steps=18,
        ),
        Template(
            name=f"{shop}/section",
            app=shop,
            phrasings=(
                f"Go to the {{section}} section of {shop}.com",
                f"Open {shop}.com and show the section {{section}}",
                f"Browse the {{section}} section on {shop}.com",
            ),
            space={"section": SECTIONS},
            start=lambda params, rng: away(shop, rng),
            check=lambda ending: ending.shows(
                "browser", "web", site=shop, view="section", name=ending.params["section"]
            ),
            oracle=partial(open_link, "section", shop),
            max_steps=16,
        ),
    )
