"""Measured, wrapped and shortened text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distrl.devices.sim import lettering
from distrl.devices.sim.glyphs import GLYPHS, mask
from distrl.devices.sim.lettering import Face

FACE = Face("Regular", 12)
texts = st.text(max_size=60)


@given(texts, st.integers(30, 200))
@settings(max_examples=60, deadline=None)
def test_no_line_is_wider_than_the_limit_and_no_letter_is_lost(text, limit):
    lines = lettering.wrap(text, FACE, limit)
    assert all(lettering.width(line, FACE) <= limit for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace("\n", "").replace(" ", "")


@given(texts, st.integers(30, 200))
@settings(max_examples=60, deadline=None)
def test_shortened_text_fits(text, limit):
    assert lettering.width(lettering.shorten(text, FACE, limit), FACE) <= limit


@given(texts)
@settings(max_examples=60, deadline=None)
def test_what_a_field_shows_is_the_end_of_what_was_typed(text):
    shown = lettering.tail(text, FACE, 80)
    assert text.replace("\n", " ").endswith(shown)


def test_wrapped_text_with_a_most_ends_in_an_ellipsis():
    lines = lettering.wrap("one two three four five six seven", FACE, 50, 2)
    assert len(lines) == 2
    assert lines[1].endswith("…")


def test_words_are_centred_on_their_letters():
    (one, x1), (two, x2) = lettering.words("ab cd", FACE)
    assert (one, two) == ("ab", "cd")
    assert 0 < x1 < lettering.width("ab", FACE) < x2 < lettering.width("ab cd", FACE)


@pytest.mark.parametrize("name", [*GLYPHS, "Zebra", "", "ü"])
def test_every_icon_draws_something_and_leaves_something_free(name):
    histogram = mask(name, 16).histogram()
    assert sum(histogram[128:]) > 8
    assert sum(histogram[:128]) > 8
