"""The shell of every page we write: one file, no script, nothing from the network, light and dark."""

from __future__ import annotations

from html import escape
from importlib import resources
from string import Template


def page(title: str, body: str) -> str:
    """A whole HTML page. `body` is HTML already; `title` is text."""
    assets = resources.files("distrl.evaluation") / "assets"
    shell = Template((assets / "page.html").read_text(encoding="utf-8"))
    return shell.substitute(title=escape(title), style=(assets / "page.css").read_text(encoding="utf-8"), body=body)
