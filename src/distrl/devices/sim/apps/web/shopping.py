"""What a browser answers when a shop's widget is touched."""

from __future__ import annotations

from distrl.devices.sim.apps.base import App, Context
from distrl.devices.sim.apps.web.places import place
from distrl.devices.sim.apps.web.shop import RATED, UNDER, filter_chips, sort_checks
from distrl.devices.sim.ui import Button, Dialog, Page, Stepper, Text
from distrl.types import Tree


class Shopping(App):
    """The shops' part of the browser. `visit` and `where` are the browser's own."""

    def on_visit(self, ctx: Context, where: Tree) -> None:
        raise NotImplementedError

    def where(self, ctx: Context) -> Tree:
        raise NotImplementedError

    def choose(self, ctx: Context, key: str, value: object, nothing: object) -> None:
        """Make a choice in the frame in front, or take it back if it was made already."""
        ctx.args.update(self.where(ctx))  # a frame that only names its tab learns where it is
        ctx.args[key] = nothing if ctx.args.get(key) == value else value
        ctx.frame["scroll"] = 0

    def shop(self, ctx: Context) -> Tree:
        """Stored data of the shop in front."""
        data: Tree = ctx.data["shops"][self.where(ctx)["site"]]
        return data

    # -- ways through the shop

    def on_menu(self, ctx: Context, name: str) -> None:
        self.on_visit(ctx, place(self.where(ctx)["site"], name.casefold()))

    def on_section(self, ctx: Context, name: str) -> None:
        self.on_visit(ctx, place(self.where(ctx)["site"], "section", name=name))

    def on_search(self, ctx: Context, query: str) -> None:
        self.on_visit(ctx, place(self.where(ctx)["site"], "results", query=query))

    def on_product(self, ctx: Context, title: str) -> None:
        self.on_visit(ctx, place(self.where(ctx)["site"], "product", item=title))

    # -- sort and filter

    def page_refine(self, ctx: Context) -> Page:
        body = (Text("Sort", "heading"), *sort_checks(ctx.args), Text("Filter", "heading"), *filter_chips(ctx.args))
        return Page("Sort and filter", (*body, Button("Apply", ("apply",))))

    def dialog_sort(self, ctx: Context) -> Dialog:
        return Dialog("Sort", body=sort_checks(ctx.args), buttons=(Button("Close", ("none",)),))

    def dialog_filter(self, ctx: Context) -> Dialog:
        return Dialog("Filter", body=filter_chips(ctx.args), buttons=(Button("Close", ("none",)),))

    def on_refine(self, ctx: Context) -> None:
        ctx.args.update(self.where(ctx))
        ctx.push("refine", **ctx.args)

    def on_apply(self, ctx: Context) -> None:
        chosen = dict(ctx.args)
        ctx.back()
        ctx.state["os"]["stack"][-1]["args"].update(chosen)

    def on_sort(self, ctx: Context, name: str) -> None:
        if name == "Filter":  # the last chip of a shop that sorts by chips
            ctx.dialog("filter")
        else:
            self.choose(ctx, "sort", name, "")

    def on_brand(self, ctx: Context, name: str) -> None:
        self.choose(ctx, "brand", name, "")

    def on_under(self, ctx: Context, label: str) -> None:
        self.choose(ctx, "under", UNDER[label], 0)

    def on_rated(self, ctx: Context, label: str) -> None:
        self.choose(ctx, "rated", RATED[label], 0)

    # -- product and cart

    def on_size(self, ctx: Context, size: str) -> None:
        ctx.ui["size"] = size

    def on_buy(self, ctx: Context) -> None:
        title, size, count = self.where(ctx)["item"], ctx.ui.get("size", "M"), ctx.ui.get("count", 1)
        cart = self.shop(ctx)["cart"]
        same = next((entry for entry in cart if (entry["title"], entry["size"]) == (title, size)), None)
        if same:
            same["count"] += count
        else:
            cart.append({"title": title, "size": size, "count": count})
        ctx.snack("Added to cart")

    def on_entry(self, ctx: Context, index: int) -> None:
        ctx.dialog("entry", index=index)

    def dialog_entry(self, ctx: Context, index: int) -> Dialog:
        entry = self.shop(ctx)["cart"][index]
        stepper = Stepper("Count", str(entry["count"]), ("count", index, -1), ("count", index, 1))
        buttons = (Button("Remove", ("remove", index), filled=False), Button("Close", ("none",)))
        return Dialog(entry["title"], body=(stepper,), buttons=buttons)

    def on_count(self, ctx: Context, index: int, by: int) -> None:
        entry = self.shop(ctx)["cart"][index]
        entry["count"] = min(9, max(1, entry["count"] + by))

    def on_remove(self, ctx: Context, index: int) -> None:
        ctx.snack(f"{self.shop(ctx)['cart'].pop(index)['title']} removed")

    def on_order(self, ctx: Context) -> None:
        shop = self.shop(ctx)
        shop["orders"].append(list(shop["cart"]))
        shop["cart"].clear()
        ctx.snack("Thank you for your order")
