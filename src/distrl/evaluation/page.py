"""Pages from Jinja templates: one file each, no script, nothing from the network, light and dark.

The environment escapes every value. Only what a template wrote (`Markup`) goes into another one as it is; a value from
a task, a model, a phone or a config file is a plain `str` and is shown as text.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup


def fill(template: str, **values: Any) -> Markup:
    """The template of that name in `assets/`, with these values."""
    return Markup(_environment().get_template(template).render(values))


@cache
def _environment() -> Environment:
    loader = PackageLoader("distrl.evaluation", "assets")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["fixed"] = fixed
    environment.globals["style"] = Markup(_asset("page.css"))
    environment.globals["plot_style"] = Markup(_asset("plot.css"))
    return environment


def fixed(value: float, digits: int = 1) -> str:
    """As many digits behind the point."""
    return f"{value:.{digits}f}"


def _asset(name: str) -> str:
    return (resources.files("distrl.evaluation") / "assets" / name).read_text(encoding="utf-8")
