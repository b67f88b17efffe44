"""Base class of apps: seeded data, pages drawn from it, and handlers of events.

The whole phone is one plain tree:

    {"os": {"stack": [frame, …], "dialog": None | {"app", "name", "args"}, "snackbar": "", …},
     "<app id>": {…that app's stored data…}, …}

A frame is one page on the back stack; whatever is only on screen and not stored lives in it:

    {"app": "clock", "page": "alarms", "args": {…}, "scroll": 0, "focus": "", "fields": {"key": "text"}, "ui": {…}}

`ui` is for the page's own unsaved choices (the hour on a picker before Save is tapped).
"""

from __future__ import annotations

import random
from typing import Any, ClassVar

from distrl.devices.sim.ui import Dialog, Page
from distrl.types import Tree


class Context:
    """What an app may use of the phone while it draws a page or handles an event."""

    def __init__(self, state: Tree, frame: Tree) -> None:
        self.state = state
        self.frame = frame

    @property
    def data(self) -> Tree:
        """The stored data of the app in front."""
        data: Tree = self.state[self.frame["app"]]
        return data

    @property
    def args(self) -> Tree:
        args: Tree = self.frame["args"]
        return args

    @property
    def ui(self) -> Tree:
        ui: Tree = self.frame["ui"]
        return ui

    @property
    def fields(self) -> Tree:
        fields: Tree = self.frame["fields"]
        return fields

    def field(self, key: str) -> str:
        return str(self.fields.get(key, ""))

    def push(self, page: str, /, app: str = "", fields: dict[str, str] | None = None, **args: Any) -> None:
        """Open a page on top of this one, of this app unless another is named."""
        frame = new_frame(app or self.frame["app"], page, args)
        frame["fields"].update(fields or {})
        self.state["os"]["stack"].append(frame)

    def replace(self, page: str, /, **args: Any) -> None:
        """Show another page of this app instead of this one."""
        self.state["os"]["stack"][-1] = new_frame(self.frame["app"], page, args)

    def back(self) -> None:
        """Leave this page."""
        self.state["os"]["stack"].pop()

    def dialog(self, name: str, /, **args: Any) -> None:
        """Show the app's `dialog_<name>` above the page."""
        self.state["os"]["dialog"] = {"app": self.frame["app"], "name": name, "args": args}

    def close_dialog(self) -> None:
        self.state["os"]["dialog"] = None

    def snack(self, text: str) -> None:
        """A short message at the lower edge; gone after the next action."""
        self.state["os"]["snackbar"] = text

    def unfocus(self) -> None:
        """Close the keyboard."""
        self.frame["focus"] = ""


def new_frame(app: str, page: str, args: dict[str, Any] | None = None) -> Tree:
    return {"app": app, "page": page, "args": dict(args or {}), "scroll": 0, "focus": "", "fields": {}, "ui": {}}


class App:
    """Base of all apps. A page `alarms` is a method `page_alarms(ctx) -> Page`, an event ("save", 3) a method
    `on_save(ctx, 3)`, a dialog a method `dialog_<name>(ctx, **args) -> Dialog`. Tapping a dialog's button closes
    the dialog before its event is answered. Enter in a field calls `on_submit(ctx, key)`.

    Events every app understands without a method of its own:
    ("push", page, {args}) · ("back",) · ("dialog", name, {args}) · ("snack", text) · ("open", app id[, page, {args}]) ·
    ("toggle", key) flips data[key] · ("set", key, value) sets data[key] · ("ui", key, value) sets ui[key] ·
    ("none",) does nothing.
    """

    id: ClassVar[str]
    title: ClassVar[str]
    glyph: ClassVar[str]
    """Name of the app's icon drawing."""
    colour: ClassVar[str]
    """Of its icon and title bar, like "#3366cc"."""
    home: ClassVar[str]
    """Page that opens first."""

    def seed(self, rng: random.Random) -> Tree:
        """Stored data of a phone in use: varies with the seed."""
        raise NotImplementedError

    def page(self, ctx: Context) -> Page:
        page: Page = getattr(self, f"page_{ctx.frame['page']}")(ctx)
        return page

    def show_dialog(self, ctx: Context, name: str, args: dict[str, Any]) -> Dialog:
        dialog: Dialog = getattr(self, f"dialog_{name}")(ctx, **args)
        return dialog
