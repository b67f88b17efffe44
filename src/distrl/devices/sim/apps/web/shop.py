"""The pages of a shop site. Which widgets they use is the shop's own choice; see `shops.py`."""

from __future__ import annotations

import random

from distrl.devices.sim.apps.base import Context
from distrl.devices.sim.apps.web.goods import BRANDS, NOUNS, SECTIONS, SIZES, SORTS, filtered, found, named, sorted_by
from distrl.devices.sim.apps.web.places import place
from distrl.devices.sim.apps.web.shops import SHOPS, Shop
from distrl.devices.sim.ui import (
    Button,
    ButtonRow,
    Card,
    CardGrid,
    Check,
    Chips,
    Divider,
    Field,
    Icon,
    IconGrid,
    Picture,
    Row,
    Stepper,
    Tabs,
    Text,
    Widget,
)
from distrl.types import Tree

UNDER = {"$20": 20, "$50": 50, "$100": 100}
RATED = {"3 stars": 3, "4 stars": 4}
INFO = ("Help", "Returns", "Gifts", "Stores", "Jobs", "About", "Safety", "Contact")
SECTION_GLYPHS = ("home", "drop", "leaf", "flag", "bag", "briefcase", "camera", "game")

Widgets = tuple[Widget, ...]


def body(ctx: Context, where: Tree) -> Widgets:
    shop = SHOPS[where["site"]]
    views = {"home": front, "section": section, "results": results, "product": product, "cart": cart, "info": info}
    head = (menu_buttons(shop),) if shop.menu == "buttons" else ()
    return (*head, *views[where["view"]](ctx, shop, where))


def bottom(where: Tree) -> Tabs | None:
    shop = SHOPS[where["site"]]
    shown = {"home": "Home", "cart": "Cart"}.get(where["view"], "")
    return Tabs(("Home", "Cart"), shown, "menu") if shop.menu == "bottom" else None


def menu_buttons(shop: Shop) -> ButtonRow:
    return ButtonRow((Button("Home", ("menu", "Home"), filled=False), Button("Cart", ("menu", "Cart"), filled=False)))


def data_of(ctx: Context, shop: Shop) -> Tree:
    data: Tree = ctx.data["shops"][shop.id]
    return data


def search_field(shop: Shop) -> Field:
    return Field("query", f"Search {shop.title}", "search")


# -- front page, sections, information


def front(ctx: Context, shop: Shop, where: Tree) -> Widgets:
    rng = random.Random(data_of(ctx, shop)["seed"])
    deals = rng.sample(NOUNS, 3)
    names = rng.sample(INFO, len(INFO))
    links = tuple(Text(name, "link", tap=("visit", place(shop.id, "info", name=name))) for name in names)
    offers = tuple(Row(noun.capitalize(), icon="tag", tap=("search", noun)) for noun in deals)
    return (
        Text(shop.title, "title"),
        search_field(shop),
        *sections(shop, rng),
        Text("Today", "heading"),
        *offers,
        Divider(),
        *links,
    )


def sections(shop: Shop, rng: random.Random) -> Widgets:
    names = tuple(rng.sample(tuple(SECTIONS), len(SECTIONS)))
    if shop.sections == "rows":
        return tuple(Row(name, icon="tag", tap=("section", name)) for name in names)
    if shop.sections == "chips":
        return (Chips(names, (), "section"),)
    if shop.sections == "tabs":
        return (Tabs(names[:4], "", "section"), Tabs(names[4:], "", "section"))
    glyphs = dict(zip(SECTIONS, SECTION_GLYPHS, strict=True))
    return (IconGrid(tuple(Icon(glyphs[name], name, ("section", name)) for name in names)),)


def section(ctx: Context, shop: Shop, where: Tree) -> Widgets:
    rows = tuple(Row(noun.capitalize(), icon="tag", tap=("search", noun)) for noun in SECTIONS[where["name"]])
    return (search_field(shop), Text(where["name"], "title"), *rows)


def info(ctx: Context, shop: Shop, where: Tree) -> Widgets:
    lines = (Text("We are here for you every day."), Text("Call us or write to us."))
    return (Text(where["name"], "title"), Picture(where["name"]), *lines)


# -- results


def results(ctx: Context, shop: Shop, where: Tree) -> Widgets:
    goods = shown_goods(ctx, shop, where)
    return (search_field(shop), *refinements(shop, where), *listed(shop, goods))


def shown_goods(ctx: Context, shop: Shop, where: Tree) -> list[Tree]:
    goods = found(data_of(ctx, shop), shop.id, where["query"])
    goods = filtered(goods, where.get("brand", ""), where.get("under", 0), where.get("rated", 0))
    return sorted_by(goods, where.get("sort", ""))


def listed(shop: Shop, goods: list[Tree]) -> Widgets:
    if not goods:
        return (Text("Nothing found"),)
    if shop.results == "rows":
        return tuple(Row(p["title"], about(p), "tag", f"${p['price']}", tap=("product", p["title"])) for p in goods)
    cards = tuple(Card(p["title"], about(p), f"${p['price']}", p["title"], ("product", p["title"])) for p in goods)
    return (CardGrid(cards),) if shop.results == "grid" else cards


def about(product: Tree) -> str:
    return f"{product['brand']}, {product['rating']} stars"


def refinements(shop: Shop, where: Tree) -> Widgets:
    if shop.refine == "dialogs":
        sort = Button("Sort", ("dialog", "sort", {}), filled=False)
        return (ButtonRow((sort, Button("Filter", ("dialog", "filter", {}), filled=False))),)
    if shop.refine == "page":
        return (Button("Sort and filter", ("refine",), filled=False),)
    if shop.refine == "tabs":
        return (
            Tabs(tuple(SORTS), where.get("sort", ""), "sort"),
            Button("Filter", ("dialog", "filter", {}), filled=False),
        )
    return (Chips((*SORTS, "Filter"), (where.get("sort", ""),), "sort"),)


def filter_chips(chosen: Tree) -> Widgets:
    groups = (
        ("Brand", Chips(BRANDS, (chosen.get("brand", ""),), "brand")),
        ("Price under", Chips(tuple(UNDER), label_of(UNDER, chosen.get("under", 0)), "under")),
        ("Rating at least", Chips(tuple(RATED), label_of(RATED, chosen.get("rated", 0)), "rated")),
    )
    return tuple(widget for name, chips in groups for widget in (Text(name, "caption"), chips))


def label_of(labels: dict[str, int], value: int) -> tuple[str, ...]:
    return tuple(label for label, number in labels.items() if number == value)


def sort_checks(chosen: Tree) -> Widgets:
    return tuple(Check(name, chosen.get("sort") == name, ("sort", name), radio=True) for name in SORTS)


# -- product and cart


def product(ctx: Context, shop: Shop, where: Tree) -> Widgets:
    item = named(data_of(ctx, shop), shop.id, where["item"])
    count = ctx.ui.get("count", 1)
    return (
        Picture(item["title"]),
        Text(item["title"], "title"),
        Text(f"${item['price']}", "price"),
        Text(about(item), "caption"),
        Chips(SIZES, (ctx.ui.get("size", "M"),), "size"),
        Stepper("Quantity", str(count), ("ui", "count", max(1, count - 1)), ("ui", "count", min(9, count + 1))),
        Button("Add to cart", ("buy",)),
    )


def cart(ctx: Context, shop: Shop, where: Tree) -> Widgets:
    entries = data_of(ctx, shop)["cart"]
    if not entries:
        return (Text("Cart", "title"), Text("Your cart is empty"))
    prices = {e["title"]: named(data_of(ctx, shop), shop.id, e["title"])["price"] for e in entries}
    rows = tuple(
        Row(e["title"], f"{e['count']} x ${prices[e['title']]}, size {e['size']}", "cart", tap=("entry", index))
        for index, e in enumerate(entries)
    )
    total = sum(e["count"] * prices[e["title"]] for e in entries)
    return (Text("Cart", "title"), *rows, Divider(), Text(f"Total ${total}", "price"), Button("Check out", ("order",)))
