import re
from importlib import resources

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from distrl.evaluation.page import fill

EVIL = "<img src=x onerror=\"alert('1')\">"


def strip(**values: object) -> str:
    defaults = {
        "unit": 1000,
        "kind": "failure",
        "goal": "",
        "facts": "",
        "id": "",
        "lead": "",
        "frames": [],
        "end": None,
    }
    return fill("filmstrip.html.jinja", **(defaults | values))


@pytest.mark.parametrize("name", ["kind", "goal", "facts", "id", "lead"])
def test_a_value_is_text_in_elements_and_in_attributes(name):
    html = strip(**{name: EVIL})
    assert "<img" not in html.lower()
    assert "&lt;img src=x onerror=&#34;" in html.lower()
    assert 'onerror="' not in html


def test_what_a_template_wrote_goes_into_another_one_as_it_is():
    assert "<p>a &lt; b</p>" in fill("replay.html.jinja", title="", strip=Markup("<p>a &lt; b</p>"))
    assert "&lt;p&gt;" in fill("replay.html.jinja", title="", strip="<p>")


def test_a_value_that_is_missing_is_an_error():
    with pytest.raises(UndefinedError, match="title"):
        fill("replay.html.jinja", strip="")


def test_half_a_character_stands_where_it_stood():
    assert "\ud800" in strip(goal="\ud800")


def test_no_template_switches_escaping_off():
    assets = resources.files("distrl.evaluation") / "assets"
    texts = {file.name: file.read_text(encoding="utf-8") for file in assets.iterdir() if file.name.endswith(".jinja")}
    assert len(texts) > 5
    for name, text in texts.items():
        assert not re.search(r"\|\s*safe", text), name
        assert "autoescape" not in text, name
