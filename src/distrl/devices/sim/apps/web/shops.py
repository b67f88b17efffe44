"""The shop sites and how each one arranges its pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Shop:
    id: str
    title: str
    colour: str
    results: Literal["rows", "grid", "cards"]
    """How products are listed: lines, two columns of cards, or one."""
    refine: Literal["dialogs", "chips", "page", "tabs"]
    """How results are sorted and filtered: behind two buttons, by chips above the list, on a page of its own,
    or by tabs above the list. Chips and tabs sort; filters are one tap behind them."""
    menu: Literal["bottom", "buttons"]
    """Home and cart: at the lower edge, or as buttons at the top of the page."""
    sections: Literal["rows", "chips", "icons", "tabs"]
    """How the front page leads to the sections."""

    @property
    def address(self) -> str:
        return f"{self.id}.com"


SHOPS: dict[str, Shop] = {
    shop.id: shop
    for shop in (
        Shop("shopmart", "Shopmart", "#1f6fb2", results="rows", refine="dialogs", menu="bottom", sections="rows"),
        Shop("pickbox", "Pickbox", "#c0562f", results="grid", refine="chips", menu="buttons", sections="icons"),
        Shop("dealbay", "Dealbay", "#7a3fa0", results="rows", refine="page", menu="buttons", sections="tabs"),
        Shop("homely", "Homely", "#3a7d44", results="cards", refine="tabs", menu="bottom", sections="chips"),
        Shop("goodcart", "Goodcart", "#9c2f4f", results="grid", refine="dialogs", menu="bottom", sections="icons"),
        Shop("buynest", "Buynest", "#00727a", results="rows", refine="chips", menu="buttons", sections="chips"),
    )
}
