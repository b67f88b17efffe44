"""What a model is asked on a screen, and what it is told to do about it."""

import random

import pytest

from distrl.devices.sim.apps.base import new_frame
from distrl.devices.sim.phone import Phone
from distrl.devices.sim.random_words import RandomWordsApp
from distrl.imitation.random_pages import _with_examples, random_word_page
from distrl.policies.actions import parse
from distrl.types import Swipe, Tap, Type

WORDS = [f"{a}{b}" for a in ("gar", "kit", "win", "sum", "pel", "tor") for b in ("den", "chen", "ter", "mer", "low")]


@pytest.fixture(scope="module")
def pages_():
    """Pages of random words with what is taught on them."""
    taught = []
    for n in range(150):
        phone = Phone(n)
        phone.apps = {**phone.apps, "babel": RandomWordsApp(WORDS)}
        phone.state["babel"] = {}
        phone.state["os"]["stack"].append(new_frame("babel", "page", {"number": n}))
        view = phone.render()
        taught.append((view, _with_examples(view, WORDS, WORDS, 0, random.Random(n)).examples))
    return taught


def meant(view, goal):
    """The clickable elements whose whole text the goal says."""
    said = f" {goal.lower()} "
    return [e for e in view.elements if e.clickable and e.text and f" {e.text.lower()} " in said]


def test_what_is_tapped_is_what_the_goal_says(pages_):
    taps = [(view, e.goal, a) for view, examples in pages_ for e in examples if isinstance(a := parse(e.action), Tap)]
    assert len(taps) > 200
    for view, goal, tap in taps:
        x, y = tap.x * 192 / 1000, tap.y * 384 / 1000
        hit = [e for e in meant(view, goal) if e.bounds[0] <= x <= e.bounds[2] and e.bounds[1] <= y <= e.bounds[3]]
        assert hit, (goal, tap)


def test_some_goals_say_more_than_what_is_here_and_those_that_say_nothing_of_it_make_scroll(pages_):
    longer = 0
    for view, examples in pages_:
        shown = {word.lower() for word, _, _ in view.words}
        for example in examples:
            said = {word for word in example.goal.split() if word in WORDS}
            if isinstance(parse(example.action), Swipe):
                assert said.isdisjoint(shown)
            else:
                longer += not said <= shown
    assert longer > 30


def test_a_slider_is_moved_to_the_value_that_is_asked_for(pages_):
    moved = 0
    for view, examples in pages_:
        for example in examples:
            sliders = [e for e in meant(view, example.goal) if e.role == "slider"]
            values = [int(word) for word in example.goal.split() if word.isdigit()]
            if len(sliders) != 1 or len(values) != 1 or not example.goal.startswith(("set", "change", "put")):
                continue
            left, _, right, _ = sliders[0].bounds
            value = (parse(example.action).x * 192 / 1000 - left) / (right - left)
            assert abs(value - values[0] / 100) < 0.07
            moved += 1
    assert moved > 5


def test_fields_are_written_in_with_what_the_goal_says_and_that_is_not_always_known():
    examples = [example for n in range(150) for page in random_word_page(WORDS, 0, n) for example in page.examples]
    typed = [(e.goal, a.text) for e in examples if isinstance(a := parse(e.action), Type)]
    assert len(typed) > 10
    for goal, text in typed:
        assert text.removeprefix("capital of ") in goal
    assert any(text.isalpha() and text not in WORDS for _, text in typed)
    assert len({goal.replace(text, "") for goal, text in typed}) > 3


def test_a_page_is_the_same_for_the_same_seed():
    assert random_word_page(WORDS, 2, 5) == random_word_page(WORDS, 2, 5)
