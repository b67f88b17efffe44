"""Dispatches a widget's event to its app; events common to all apps are handled here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from distrl.devices.sim.apps.base import App, Context, new_frame
from distrl.devices.sim.ui import Event


def send(apps: Mapping[str, App], ctx: Context, event: Event) -> None:
    """Handle an event of the page in front: by the app's `on_<name>`, else by the common handlers."""
    name, arguments = event[0], event[1:]
    app = apps[ctx.frame["app"]]
    method = getattr(app, f"on_{name}", None)
    if method is not None:
        method(ctx, *arguments)
    elif name == "open":
        _open(apps, ctx, *arguments)
    elif name in STANDARD:
        STANDARD[name](ctx, *arguments)
    else:
        raise LookupError(f"The app {app.id!r} has no on_{name}, and {name!r} is no standard event.")


def _open(apps: Mapping[str, App], ctx: Context, app: str, page: str = "", args: dict[str, Any] | None = None) -> None:
    ctx.state["os"]["stack"].append(new_frame(app, page or apps[app].home, args))


def _push(ctx: Context, page: str, args: dict[str, Any] | None = None) -> None:
    ctx.state["os"]["stack"].append(new_frame(ctx.frame["app"], page, args))


def _back(ctx: Context) -> None:
    ctx.back()


def _dialog(ctx: Context, name: str, args: dict[str, Any] | None = None) -> None:
    ctx.dialog(name, **(args or {}))


def _snack(ctx: Context, text: str) -> None:
    ctx.snack(text)


def _toggle(ctx: Context, key: str) -> None:
    ctx.data[key] = not ctx.data[key]


def _set(ctx: Context, key: str, value: Any) -> None:
    ctx.data[key] = value


def _ui(ctx: Context, key: str, value: Any) -> None:
    ctx.ui[key] = value


def _none(ctx: Context) -> None:
    pass


STANDARD: dict[str, Callable[..., None]] = {
    "push": _push,
    "back": _back,
    "dialog": _dialog,
    "snack": _snack,
    "toggle": _toggle,
    "set": _set,
    "ui": _ui,
    "none": _none,
}
