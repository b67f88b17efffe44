"""What is listed with a picture: elements, words and targets, over a demo page and over the phone's real apps."""

from __future__ import annotations

import random

import pytest

from distrl.bench.device import monkey
from distrl.devices.sim.apps import APPS
from distrl.devices.sim.apps.base import new_frame
from distrl.devices.sim.phone import Phone
from distrl.types import Screen

ROLES = {
    *("icon", "row", "toggle", "checkbox", "field", "button", "tab", "chip", "slider", "stepper", "wheel", "card"),
    *("text", "bubble", "dialog", "popup", "snackbar", "key"),
}


def pages(seed: int, steps: int = 12):
    """Renderings that a monkey comes across, a few from every app."""
    rng = random.Random(seed)
    for app in APPS.values():
        phone = Phone(seed, popup_probability=0.1)
        if app.id != "launcher":
            phone.system["stack"].append(new_frame(app.id, app.home))
        for _ in range(steps):
            rendering = phone.render()
            yield phone, rendering
            phone.perform(monkey(Screen(b"-", 192, 384, rendering.elements), rng))


def overlap(one, other):
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width > 0 and height > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_on_every_page_elements_and_words_lie_on_the_screen_and_touchables_are_large_and_apart(seed):
    for phone, rendering in pages(seed):
        where = (phone.frame["app"], phone.frame["page"], phone.system["dialog"])
        for element in rendering.elements:
            left, top, right, bottom = element.bounds
            assert 0 <= left < right <= 192, (where, element)
            assert 0 <= top < bottom <= 384, (where, element)
            assert element.role in ROLES, (where, element)
        assert all(0 <= x < 192 and 0 <= y < 384 for _, x, y in rendering.words), where
        fab = phone.compose().page.fab
        touchables = [e for e in rendering.elements if e.clickable and not (fab and e.text == fab.label)]
        body_edges = [e for e in touchables if e.bounds[3] - e.bounds[1] < 24]
        assert all(e.bounds[1] in clip_edges(phone) or e.bounds[3] in clip_edges(phone) for e in body_edges), where
        for i, one in enumerate(touchables):
            for other in touchables[i + 1 :]:
                assert not overlap(one.bounds, other.bounds), (where, one, other)


def clip_edges(phone):
    """Where the scrolling parts of the page are cut off: only there may something touchable be less tall."""
    return {edge for op in phone.compose().scene.ops if op[0] == "clip" for edge in (op[1][1], op[1][3])}


def test_every_touchable_element_answers_at_its_centre(build):
    phone = build("all")
    rendering = phone.render()
    for element in rendering.elements:
        if element.clickable:
            left, top, right, bottom = element.bounds
            hit = [
                b for b in rendering.targets if b[0] <= (left + right) / 2 < b[2] and b[1] <= (top + bottom) / 2 < b[3]
            ]
            assert hit, element


def test_every_widget_is_listed_by_its_role(build):
    phone = build("all")
    listed = {(e.role, e.text) for e in phone.render().elements}
    wanted = {
        *{("text", "A title"), ("text", "A link"), ("checkbox", "Tick"), ("checkbox", "Radio"), ("button", "Go")},
        *{("button", "Yes"), ("button", "No"), ("tab", "One"), ("tab", "Left"), ("chip", "Green"), ("icon", "New")},
    }
    assert wanted <= listed


def test_a_row_lists_its_subtitle_and_value_as_text(build):
    elements = build().render().elements
    assert [e.role for e in elements if e.text in ("First row", "with a subtitle", "value")] == ["row", "text", "text"]


def test_words_are_listed_where_they_are_drawn(build, hand):
    phone = build()
    rendering = phone.render()
    row = hand(phone).find("First row").bounds
    for word in ("First", "row", "with", "subtitle", "value"):
        assert any(w == word and row[0] <= x < row[2] and row[1] <= y < row[3] for w, x, y in rendering.words), word
    pixels = rendering.image.load()
    for word, x, y in rendering.words:
        near = {
            pixels[min(191, max(0, x + dx)), min(383, max(0, y + dy))] for dx in range(-8, 9) for dy in range(-6, 7)
        }
        assert len(near) > 1, f"nothing is drawn at {word}"


def test_icons_in_bars_are_listed_as_the_words_of_their_label(build):
    words = [w for w, _, _ in build().render().words]
    assert {"Delete", "Recents", "Home"} <= set(words)


def test_scale_multiplies_the_picture_and_everything_that_is_listed(build):
    small, large = build().render(), build(scale=3).render()
    assert large.image.size == (576, 1152)
    assert [tuple(3 * n for n in e.bounds) for e in small.elements] == [e.bounds for e in large.elements]
    assert [(w, 3 * x, 3 * y) for w, x, y in small.words] == list(large.words)


def test_what_a_floating_button_hides_is_not_listed_as_words(build, hand):
    phone = build("all")
    left, top, right, bottom = hand(phone).find("New", "icon").bounds
    inside = [w for w, x, y in phone.render().words if left <= x < right and top <= y < bottom]
    assert inside == ["New"]
