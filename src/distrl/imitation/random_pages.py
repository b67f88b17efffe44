"""Screens to read: random walks through a phone, pages of random words, and what a model is asked on them.

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
from distrl.tasks.base import Hand
from distrl.types import Action, Answer, Element, Press, Screen, Swipe, Tap, Type

HELD_OUT_APPS = ("weather", "music")
SYSTEM_KEYS = {"System back", "Home", "Recents"}
"""On every screen at the same place: worth few lessons."""
ASKS = ("tap {}", "{}", "press {}", "choose {}", "open {}")
TYPINGS = (
    *(("type {}", "{}"), ("write {}", "{}"), ("{}", "{}")) * 2,
    *(("search the web for {}", "{}"), ("look for {} on the web", "{}"), ("open the browser and search {}", "{}")),
    *(("what is the capital of {}?", "capital of {}"), ("look up the capital of {} on the web", "capital of {}")),
    *(("search the app store for {}", "{}"), ("install the app {}", "{}"), ("go to {}.com", "{}.com")),
)
"""Goals, and what is to be typed for them. Some are those of training tasks, of which there are a dozen each: whoever
has heard only of these types one of them, whatever was asked for."""
FOCUSED, SPELLED = 0.5, 0.4
"""Share of the pages of random words with a field to write in on which it is written in, and of what is
written there that nobody knows and has to be spelled."""
SLIDES = ("set {} to {}", "change the {} to {} percent", "put {} at {}")
AMID = 0.4
"""Share of the asks in which what is meant stands among words that are nowhere on the screen. Goals are like that: of
all they say, one thing is here, and it is the thing to touch."""


@dataclass(frozen=True, slots=True)
class Example:
    goal: str
    history: tuple[str, ...]
    action: str


@dataclass(frozen=True, slots=True)
class TrainingPage:
    """One screen with everything taught on it."""

    image: bytes
    words: tuple[tuple[str, int, int], ...]
    examples: tuple[Example, ...]


def random_page(words: Sequence[str], quotes: int, seed: int) -> list[TrainingPage]:
    """One page of random words on random widgets: where nothing can be remembered, reading is learned.

    `quotes`: so many examples of writing down what stands there or what the goal says.
    """
    rng = random.Random(f"page/{seed}")
    phone = Phone(rng.randrange(2**28), popup_probability=0.05)
    phone.apps = {**phone.apps, "babel": RandomWordsApp(words)}
    phone.state["babel"] = {}
    phone.state["os"]["stack"].append(new_frame("babel", "page", {"number": rng.randrange(2**40)}))
    view = phone.render()
    fields = [element for element in view.elements if element.role == "field"]
    if fields and rng.random() < FOCUSED:
        phone.perform(_touch(rng.choice(fields)))
        view = phone.render()
    return [_taught(view, words, words, quotes, rng)]


def walked_pages(words: Sequence[str], quotes: int, seed: int) -> list[TrainingPage]:
    """A few screens of one phone, on a random walk through its apps; `quotes` on each, as above."""
    rng = random.Random(f"pages/{seed}")
    phone = Phone(rng.randrange(2**28), popup_probability=0.05)
    views = list(_walk(phone, rng))
    seen = [element.text for view in views for element in view.elements if element.clickable and element.role != "key"]
    return [
        _taught(view, words, [*seen, *rng.sample(words, min(len(seen), len(words)))], quotes, rng) for view in views
    ]


def _walk(phone: Phone, rng: random.Random) -> Iterator[Rendering]:
    """Random touches, away from the apps that are held out."""
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
    """What somebody might do who only sees that something can be touched."""
    taboo = SYSTEM_KEYS.union(forbidden)
    touchable = [e for e in elements if e.clickable and e.text not in taboo and e.role != "key"]
    if rng.random() < 0.15 or not touchable:
        return rng.choice((Swipe(500, 700, 500, 300), Swipe(500, 300, 500, 700), Press("back")))
    return _touch(rng.choice(touchable))


def _touch(element: Element) -> Tap:
    return _hand().touch(element)


def _hand() -> Hand:
    hand = Hand()
    hand.screen = Screen(b"", 192, 384)
    return hand


def _taught(
    view: Rendering, words: Sequence[str], wanted: Sequence[str], quotes: int, rng: random.Random
) -> TrainingPage:
    """`wanted`: what somebody might look for; where it is not on the screen, the thing to do is to scroll."""
    named = [e for e in view.elements if e.clickable and e.role != "key" and 0 < len(e.text) <= 32]
    texts = [e.text.lower() for e in named]
    unique = [
        e for e in named if texts.count(e.text.lower()) == 1 and (e.text not in SYSTEM_KEYS or rng.random() < 0.1)
    ]
    shown = {word.lower() for word, _, _ in view.words}
    absent = [word for word in rng.sample(words, min(6, len(words))) if word not in shown]
    examples = [_pointed(e, absent, rng) for e in rng.sample(unique, min(2, len(unique)))]
    if (missing := _missing(shown, wanted, rng)) is not None:
        ask = rng.choice(ASKS[:-1])  # what is not here is opened from somewhere else: that, demonstrations teach
        examples.append(
            Example(_amid(ask.format(missing), missing, absent, rng), (), format_action(_hand().scroll_down()))
        )
    if any(e.focused for e in view.elements):
        examples.append(_typed(words, rng))
    examples += [_quote(view, words, rng) for _ in range(quotes)]
    return TrainingPage(encode(view.image), view.words, tuple(examples))


def _pointed(element: Element, absent: Sequence[str], rng: random.Random) -> Example:
    """Touch it, or move it where it slides."""
    if element.role == "slider" and rng.random() < 0.7:
        value = rng.randrange(0, 101, 10)
        moved = format_action(_hand().slide_to(element, value))
        return Example(rng.choice(SLIDES).format(element.text, value), (), moved)
    ask = _amid(rng.choice(ASKS).format(element.text), element.text, absent, rng)
    return Example(ask, (), format_action(_touch(element)))


def _typed(words: Sequence[str], rng: random.Random) -> Example:
    ask, typed = rng.choice(TYPINGS)
    text = made_up(words, rng) if rng.random() < SPELLED else _text(words, rng)
    return Example(ask.format(text), (), format_action(Type(typed.format(text))))


def _amid(ask: str, text: str, absent: Sequence[str], rng: random.Random) -> str:
    """The ask, or what it asks for among words that are not there."""
    if rng.random() >= AMID or not absent:
        return ask
    others = rng.sample(absent, rng.randint(1, min(4, len(absent))))
    before = rng.randint(0, len(others))
    return " ".join((*others[:before], text, *others[before:]))


def _missing(shown: Set[str], wanted: Sequence[str], rng: random.Random) -> str | None:
    """Something that is wanted and does not stand on the screen. Who never looks in vain taps something at random."""
    for text in rng.sample(wanted, min(4, len(wanted))):
        if 0 < len(text) <= 32 and text not in SYSTEM_KEYS and shown.isdisjoint(text.lower().split()):
            return text
    return None


# --- writing down -------------------------------------------------------------------------------


def _quote(view: Rendering, words: Sequence[str], rng: random.Random) -> Example:
    """Write down a piece of the screen, or, where nothing on it can be pointed at, what the goal says."""
    lines = _lines(view)
    spoken = Counter(word for line in lines for word in line)
    pointed = [(n, k) for n, line in enumerate(lines) for k, w in enumerate(line) if spoken[w] == 1 and w.isalnum()]
    if not pointed or rng.random() < 0.25:
        text = _text(words, rng)
        return Example(f"{rng.choice(('say', 'answer', 'answer with'))} {text}", (), format_action(Answer(text)))
    n, k = rng.choice(pointed)
    line = lines[n]
    asks = [("read {}", line[k:])]
    if line[k + 1 :]:
        asks += [("what follows {}", line[k + 1 :])] * 2
    if n + 1 < len(lines):
        asks += [("what is below {}", lines[n + 1])] * 2
    ask, said = rng.choice(asks)
    return Example(ask.format(line[k]), (), format_action(Answer(" ".join(said[:5]))))


def _lines(view: Rendering) -> list[list[str]]:
    """The words of each line, from left to right, from the top down; names that stand for a glyph are left out."""
    crowd = Counter((x, y) for _, x, y in view.words)
    lines: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for word, x, y in view.words:
        if crowd[x, y] == 1:
            lines[y].append((x, word.lower()))
    return [[word for _, word in sorted(line)] for _, line in sorted(lines.items())]


def _text(words: Sequence[str], rng: random.Random) -> str:
    return " ".join(any_word(words, rng) for _ in range(rng.randint(1, 3))).lower()
