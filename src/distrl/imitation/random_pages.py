"""Pages for learning to read: random words on random widgets, random walks through apps, with examples on each.

Nothing here looks at a test split, and no screen of a held-out app is ever drawn.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from distrl.devices.jpeg import encode
from distrl.devices.sim.apps import APPS
from distrl.devices.sim.apps.base import new_frame
from distrl.devices.sim.phone import Phone, Rendering
from distrl.devices.sim.random_words import RandomWordsApp, any_word, made_up
from distrl.policies.actions import format_action
from distrl.tasks.base import ScreenDriver
from distrl.types import Action, Answer, Element, Press, Screen, Swipe, Tap, Type

HELD_OUT_APPS = ("weather", "music")
SYSTEM_KEYS = {"System back", "Home", "Recents"}
"""On every screen at the same place, so they get few examples."""
TAP_GOALS = ("tap {}", "{}", "press {}", "choose {}", "open {}")
TYPE_GOALS = (
    *(("type {}", "{}"), ("write {}", "{}"), ("{}", "{}")) * 2,
    *(("search the web for {}", "{}"), ("look for {} on the web", "{}"), ("open the browser and search {}", "{}")),
    *(("what is the capital of {}?", "capital of {}"), ("look up the capital of {} on the web", "capital of {}")),
    *(("search the app store for {}", "{}"), ("install the app {}", "{}"), ("go to {}.com", "{}.com")),
)
"""Goals, and the text to type for each. Some are goals of training tasks; those alone, a dozen texts each, would be
memorised."""
FOCUS_SHARE, UNKNOWN_WORD_SHARE = 0.5, 0.4
"""Share of the random pages with a text field on which it is focused; share of unknown words in the typed texts, which
have to be spelled."""
SLIDER_GOALS = ("set {} to {}", "change the {} to {} percent", "put {} at {}")
DISTRACTOR_SHARE = 0.4
"""Share of the goals in which the named item stands among words that are not on the screen, as in goals of tasks."""


@dataclass(frozen=True, slots=True)
class Example:
    goal: str
    history: tuple[str, ...]
    action: str


@dataclass(frozen=True, slots=True)
class TrainingPage:
    """One screen with its training examples."""

    image: bytes
    words: tuple[tuple[str, int, int], ...]
    examples: tuple[Example, ...]


def random_word_page(words: Sequence[str], quotes: int, seed: int) -> list[TrainingPage]:
    """One page of random words on random widgets, which cannot be memorised and so must be read.

    `quotes`: number of examples whose action answers with words of the screen or the goal.
    """
    rng = random.Random(f"page/{seed}")
    phone = Phone(rng.randrange(2**28), popup_probability=0.05)
    phone.apps = {**phone.apps, "babel": RandomWordsApp(words)}
    phone.state["babel"] = {}
    phone.state["os"]["stack"].append(new_frame("babel", "page", {"number": rng.randrange(2**40)}))
    view = phone.render()
    fields = [element for element in view.elements if element.role == "field"]
    if fields and rng.random() < FOCUS_SHARE:
        phone.perform(_touch(rng.choice(fields)))
        view = phone.render()
    return [_with_examples(view, words, words, quotes, rng)]


def app_pages(words: Sequence[str], quotes: int, seed: int) -> list[TrainingPage]:
    """Screens of a random walk through the apps of one phone; `quotes` as above, per screen."""
    rng = random.Random(f"pages/{seed}")
    phone = Phone(rng.randrange(2**28), popup_probability=0.05)
    views = list(_random_walk(phone, rng))
    seen = [element.text for view in views for element in view.elements if element.clickable and element.role != "key"]
    return [
        _with_examples(view, words, [*seen, *rng.sample(words, min(len(seen), len(words)))], quotes, rng)
        for view in views
    ]


def _random_walk(phone: Phone, rng: random.Random) -> Iterator[Rendering]:
    """Random touches that never open a held-out app."""
    forbidden = {APPS[app].title for app in HELD_OUT_APPS}
    visits = [app for app in APPS if app not in (*HELD_OUT_APPS, "launcher")]
    if rng.random() < 0.8:
        app = rng.choice(visits)
        phone.state["os"]["stack"].append(new_frame(app, APPS[app].home))
    for _ in range(4):
        view = phone.render()
        yield view
        for _ in range(rng.randint(1, 2)):
            phone.perform(random_action(phone.render().elements, rng, forbidden))


def random_action(elements: Sequence[Element], rng: random.Random, forbidden: Iterable[str] = ()) -> Action:
    """A tap on a random clickable element, or a swipe, or back."""
    excluded = SYSTEM_KEYS.union(forbidden)
    touchable = [e for e in elements if e.clickable and e.text not in excluded and e.role != "key"]
    if rng.random() < 0.15 or not touchable:
        return rng.choice((Swipe(500, 700, 500, 300), Swipe(500, 300, 500, 700), Press("back")))
    return _touch(rng.choice(touchable))


def _touch(element: Element) -> Tap:
    return _screen_driver().touch(element)


def _screen_driver() -> ScreenDriver:
    ui = ScreenDriver()
    ui.screen = Screen(b"", 192, 384)
    return ui


def _with_examples(
    view: Rendering, words: Sequence[str], wanted: Sequence[str], quotes: int, rng: random.Random
) -> TrainingPage:
    """`wanted`: texts that a goal may name; the action for one that is not on the screen is to scroll."""
    named = [e for e in view.elements if e.clickable and e.role != "key" and 0 < len(e.text) <= 32]
    texts = [e.text.lower() for e in named]
    unique = [
        e for e in named if texts.count(e.text.lower()) == 1 and (e.text not in SYSTEM_KEYS or rng.random() < 0.1)
    ]
    shown = {word.lower() for word, _, _ in view.words}
    absent = [word for word in rng.sample(words, min(6, len(words))) if word not in shown]
    examples = [_tap_example(e, absent, rng) for e in rng.sample(unique, min(2, len(unique)))]
    if (missing := _missing(shown, wanted, rng)) is not None:
        goal = rng.choice(TAP_GOALS[:-1])  # not `open`: how to open what is elsewhere is learned from demonstrations
        examples.append(
            Example(
                _with_distractors(goal.format(missing), missing, absent, rng),
                (),
                format_action(_screen_driver().scroll_down()),
            )
        )
    if any(e.focused for e in view.elements):
        examples.append(_type_example(words, rng))
    examples += [_answer_example(view, words, rng) for _ in range(quotes)]
    return TrainingPage(encode(view.image), view.words, tuple(examples))


def _tap_example(element: Element, absent: Sequence[str], rng: random.Random) -> Example:
    """Tap the element, or set it if it is a slider."""
    if element.role == "slider" and rng.random() < 0.7:
        value = rng.randrange(0, 101, 10)
        moved = format_action(_screen_driver().slide_to(element, value))
        return Example(rng.choice(SLIDER_GOALS).format(element.text, value), (), moved)
    goal = _with_distractors(rng.choice(TAP_GOALS).format(element.text), element.text, absent, rng)
    return Example(goal, (), format_action(_touch(element)))


def _type_example(words: Sequence[str], rng: random.Random) -> Example:
    goal, typed = rng.choice(TYPE_GOALS)
    text = made_up(words, rng) if rng.random() < UNKNOWN_WORD_SHARE else _text(words, rng)
    return Example(goal.format(text), (), format_action(Type(typed.format(text))))


def _with_distractors(goal: str, text: str, absent: Sequence[str], rng: random.Random) -> str:
    """The goal; or, for a share of them, the named item among words that are not on the screen."""
    if rng.random() >= DISTRACTOR_SHARE or not absent:
        return goal
    others = rng.sample(absent, rng.randint(1, min(4, len(absent))))
    before = rng.randint(0, len(others))
    return " ".join((*others[:before], text, *others[before:]))


def _missing(shown: Set[str], wanted: Sequence[str], rng: random.Random) -> str | None:
    """A wanted text that is not on the screen. Without such examples the model taps at random when it finds nothing."""
    for text in rng.sample(wanted, min(4, len(wanted))):
        if 0 < len(text) <= 32 and text not in SYSTEM_KEYS and shown.isdisjoint(text.lower().split()):
            return text
    return None


# --- answers ------------------------------------------------------------------------------------


def _answer_example(view: Rendering, words: Sequence[str], rng: random.Random) -> Example:
    """Answer with words of the screen, or, if no word on it is unique, with words of the goal."""
    lines = _lines(view)
    counts = Counter(word for line in lines for word in line)
    pointed = [(n, k) for n, line in enumerate(lines) for k, w in enumerate(line) if counts[w] == 1 and w.isalnum()]
    if not pointed or rng.random() < 0.25:
        text = _text(words, rng)
        return Example(f"{rng.choice(('say', 'answer', 'answer with'))} {text}", (), format_action(Answer(text)))
    n, k = rng.choice(pointed)
    line = lines[n]
    goals = [("read {}", line[k:])]
    if line[k + 1 :]:
        goals += [("what follows {}", line[k + 1 :])] * 2
    if n + 1 < len(lines):
        goals += [("what is below {}", lines[n + 1])] * 2
    goal, answer_words = rng.choice(goals)
    return Example(goal.format(line[k]), (), format_action(Answer(" ".join(answer_words[:5]))))


def _lines(view: Rendering) -> list[list[str]]:
    """The words of each line in reading order, without the names of icons."""
    counts = Counter((x, y) for _, x, y in view.words)
    lines: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for word, x, y in view.words:
        if counts[x, y] == 1:
            lines[y].append((x, word.lower()))
    return [[word for _, word in sorted(line)] for _, line in sorted(lines.items())]


def _text(words: Sequence[str], rng: random.Random) -> str:
    return " ".join(any_word(words, rng) for _ in range(rng.randint(1, 3))).lower()
