import io
import re
from html import unescape
from html.parser import HTMLParser

import pytest
from PIL import Image

from distrl.errors import CorruptData
from distrl.evaluation.filmstrip import film_page, filmstrip
from distrl.types import Answer, Decision, Invalid, LongPress, Outcome, Press, Screen, Step, Swipe, Tap, Trajectory

SCREEN = Screen(b"\xff\xd8 a picture", 192, 384)


class Tags(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def named(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


def step(action, text="text", version=3, value=0.25):
    return Step(SCREEN, Decision(action, text, (1,), (0.0,), 0.5, version, value))


def strip_of(task, *steps, outcome="success", **options):
    trajectory = Trajectory("an-id", task, steps, Outcome(outcome), SCREEN)
    return filmstrip(trajectory, lambda digest: SCREEN, **options)


def test_hostile_text_is_shown_and_not_obeyed(attack):
    evil = '<script>alert(1)</script>" onload="alert(1)'
    steps = (step(Answer(evil), evil), step(Invalid(evil, evil), evil))
    trajectory = Trajectory(evil, attack, steps, Outcome("failure", evil), SCREEN, evil, evil)
    html = film_page(trajectory, lambda digest: SCREEN)
    found = Tags(html)
    assert found.named("script") == []
    assert not any(name.startswith("on") for _, attributes in found.tags for name in attributes)
    assert all(image["src"].startswith("data:image/") for image in found.named("img"))
    assert "&lt;img src=x onerror=" in html
    assert "default-src 'none'" in html


def test_a_lead_is_shown_as_text(attack):
    evil = "</header><script>alert(1)</script>"
    html = filmstrip(Trajectory("t", attack, (), Outcome("failure")), lambda digest: SCREEN, lead=evil)
    assert Tags(html).named("script") == []
    assert "&lt;/header&gt;&lt;script&gt;" in html


def test_taps_are_marked_where_they_were_made(attack):
    html = strip_of(attack, step(Tap(500, 250)), step(LongPress(100, 1000)))
    rings = [tag for tag in Tags(html).named("circle") if tag["class"] == "ring"]
    # The screen is twice as high as wide, and the overlay's unit is a thousandth of its width.
    assert [(ring["cx"], ring["cy"]) for ring in rings] == [("500", "500"), ("100", "2000"), ("100", "2000")]
    assert {svg["viewbox"] for svg in Tags(html).named("svg")} == {"0 0 1000 2000"}


def test_a_swipe_is_an_arrow_and_a_key_leaves_no_mark(attack):
    html = strip_of(attack, step(Swipe(500, 700, 500, 300)), step(Press("back")))
    (path,) = [tag["d"] for tag in Tags(html).named("path") if tag["class"] == "ring"]
    assert path.startswith("M500 1400L500 600")
    assert len(Tags(html).named("svg")) == 1


def test_each_frame_says_what_the_policy_did_and_thought(attack):
    html = strip_of(
        attack,
        step(Invalid("tap", "no"), 'type "a\nb"', 3, 0.25),
        step(Tap(1, 2), "tap 1 2", 4, 0.75),
        invalid_penalty=0.2,
    )
    text = unescape(re.sub("<[^>]+>", " ", html))
    assert 'type "a\nb"' in text
    assert text.index("value  0.25  reward  -0.2  version  3") < text.index("value  0.75  reward  +1.0  version  4")
    assert "policy version 3–4" in text
    assert "Success" in text
    assert "2 steps" in text


def test_a_failure_earns_nothing(attack):
    assert "+1.0" not in strip_of(attack, step(Tap(1, 2)), outcome="failure")
    assert 'class="badge invalid"' in strip_of(attack, outcome="invalid")


def test_a_missing_picture_leaves_a_frame(attack):
    def gone(digest: str) -> Screen:
        raise CorruptData("The screenshot <gone> is missing")

    html = filmstrip(Trajectory("t", attack, (step(Tap(1, 2)),), Outcome("failure")), gone)
    assert "picture missing" in html
    assert Tags(html).named("img") == []
    assert len(Tags(html).named("svg")) == 1


@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_large_screenshots_are_made_small(attack, kind):
    out = io.BytesIO()
    Image.effect_noise((1080, 2400), 60).save(out, kind)
    large = Screen(out.getvalue(), 1080, 2400)
    trajectory = Trajectory("t", attack, (), Outcome("failure"), large)
    assert len(filmstrip(trajectory, lambda digest: large)) < 120_000 < len(large.image)
