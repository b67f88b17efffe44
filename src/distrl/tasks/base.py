"""Task templates, the screen driver that oracles act through, and loading a suite by name.

A template works without pixels: parameters, phrasings of the goal, edits of the start state as plain data, a check of
the end state, and an oracle that solves it through the elements of the screen.

Start-state edits are tuples that a device applies in order at reset, after seeding:
    ("set", "settings/wifi", True)                    set a value; the path is split at "/"
    ("add", "contacts/people", {"name": "Ada", …})    insert into a list, at a place the seed decides
    ("drop", "clock/alarms", {"time": "07:30"})       remove the list items that match all given keys
    ("open", "clock", "alarms")                       start with this app's page in front (default: the home screen)
"""

from __future__ import annotations

import importlib
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from distrl.config.playing import TASK_FILES, is_task_file
from distrl.errors import UnknownName
from distrl.registry import SUITES
from distrl.types import Action, Element, LongPress, Press, Screen, Swipe, Tap, Task, Tree, Type

Params = Mapping[str, Any]
Edit = tuple[Any, ...]
Oracle = Iterator[Action]

DISMISSALS = ("Not now", "Deny", "Later", "OK")
"""Labels of the button that closes a pop-up without a consequence."""
LONGEST_SEARCH = 40
"""Scrolls or wheel turns after which an oracle gives up."""


@dataclass(frozen=True, slots=True)
class Ending:
    """What a rule may use at the end of an episode."""

    params: Params
    before: Tree
    """State of the device after reset."""
    after: Tree
    """State of the device now."""
    answer: str = ""
    """What the agent answered; empty if it only said done."""

    @property
    def page(self) -> Tree:
        """The frame in front: {"app", "page", "args", …}."""
        frame: Tree = self.after["os"]["stack"][-1]
        return frame

    def shows(self, app: str, page: str, **args: Any) -> bool:
        """Whether that page is in front, with at least these arguments."""
        frame = self.page
        return bool(frame["app"] == app and frame["page"] == page) and all(
            frame["args"].get(key) == value for key, value in args.items()
        )


def nothing_to_edit(params: Params, rng: random.Random) -> tuple[Edit, ...]:
    return ()


def any_combination(params: Params) -> bool:
    return True


@dataclass(frozen=True)
class Template:
    """A family of tasks."""

    name: str
    """`app/what`, unique in the suite."""
    app: str
    """Id of the app it is about."""
    phrasings: tuple[str, ...]
    """Goals with {parameter} placeholders; at least three of the same meaning."""
    space: Mapping[str, tuple[Any, ...]]
    """The possible values of each parameter; a task is one combination of them. At least eight combinations."""
    check: Callable[[Ending], bool]
    """Whether the end state is what the goal asks for."""
    oracle: Callable[[ScreenDriver, Params], Oracle]
    """Yields the actions that solve the task, from what the screen shows."""
    max_steps: int = 15
    start: Callable[[Params, random.Random], tuple[Edit, ...]] = nothing_to_edit
    """Edits to the seeded state, so that the task is possible and not done yet."""
    may_change: tuple[str, ...] = ()
    """Paths that a solution changes; any other stored change is a side effect and fails the task.
    The `os` subtree and keys named `history` or `recent` never count."""
    allowed: Callable[[Params], bool] = any_combination
    """False for combinations that make no sense."""
    held_out: bool = False
    """True: the whole template belongs to the split test-templates."""

    def combinations(self) -> list[dict[str, Any]]:
        """Every allowed combination of parameters, in a fixed order."""
        product = itertools.product(*self.space.values())
        return [c for c in (dict(zip(self.space, values, strict=True)) for values in product) if self.allowed(c)]


class ScreenDriver:
    """The latest screen, and methods for oracles that yield the actions to take.

    `look` must be called with the new screen before the next action is requested. Every method closes pop-ups first.
    """

    def __init__(self) -> None:
        self.screen: Screen = Screen(b"", 1, 1)
        self.state: Tree = {}

    # -- looking

    def look(self, screen: Screen, state: Tree) -> None:
        """Set the screen, and the device's state where it can be read."""
        self.screen = screen
        self.state = state

    def find(self, text: str, role: str = "") -> Element | None:
        """The first visible element with exactly this text (any case), and this role if one is given."""
        wanted = text.casefold()
        return next(
            (e for e in self.screen.elements if e.text.casefold() == wanted and (not role or e.role == role)), None
        )

    def sees(self, text: str, role: str = "") -> bool:
        return self.find(text, role) is not None

    # -- doing

    def touch(self, element: Element) -> Tap:
        x, y = self.centre(element)
        return Tap(x, y)

    def centre(self, element: Element) -> tuple[int, int]:
        left, top, right, bottom = element.bounds
        # Multiples of ten: the coordinates that small models write as one token.
        x = round((left + right) / 2 / self.screen.width * 100) * 10
        y = round((top + bottom) / 2 / self.screen.height * 100) * 10
        return min(x, 1000), min(y, 1000)

    def slide_to(self, slider: Element, value: int) -> Tap:
        """A tap at the place of a value of 0–100 on the track."""
        left, _, right, _ = slider.bounds
        first, last = -(-left * 100 // self.screen.width), (right - 1) * 100 // self.screen.width
        x = round((left + (right - left) * value / 100) / self.screen.width * 100)
        return Tap(min(max(x, first), last) * 10, self.centre(slider)[1])

    def clear_popups(self) -> Oracle:
        while (tap := self.dismissal()) is not None:
            yield tap

    def dismissal(self) -> Tap | None:
        """The tap that closes the pop-up on screen; None if there is no pop-up."""
        if self.find_role("popup") is None:
            return None
        return self.touch(next(e for e in self.screen.elements if e.role == "button" and e.text in DISMISSALS))

    def find_role(self, role: str) -> Element | None:
        return next((e for e in self.screen.elements if e.role == role), None)

    def scroll_down(self) -> Swipe:
        return Swipe(500, 700, 500, 300)

    def scroll_up(self) -> Swipe:
        return Swipe(500, 300, 500, 700)

    def reveal(self, text: str, role: str = "") -> Iterator[Action]:
        """Scroll until the element is on screen: down to the end first, then up."""
        for direction in (self.scroll_down, self.scroll_up):
            before = None
            for _ in range(LONGEST_SEARCH):
                yield from self.clear_popups()
                if self.sees(text, role):
                    return
                if self.screen.digest == before:
                    break
                before = self.screen.digest
                yield direction()
        seen = [e.text for e in self.screen.elements if e.text]
        raise LookupError(f"No element {text!r} with role {role or 'any'} on this page; it shows {seen}.")

    def tap(self, text: str, role: str = "") -> Iterator[Action]:
        yield from self.clear_popups()
        yield from self.reveal(text, role)
        element = self.find(text, role)
        assert element is not None
        yield self.touch(element)
        yield from self.clear_popups()

    def long_press(self, text: str, role: str = "") -> Iterator[Action]:
        yield from self.clear_popups()
        yield from self.reveal(text, role)
        element = self.find(text, role)
        assert element is not None
        yield LongPress(*self.centre(element))
        yield from self.clear_popups()

    def write(self, hint: str, text: str, enter: bool = False) -> Iterator[Action]:
        """Focus the field with this hint (or its present text), type, and press enter if asked to."""
        yield from self.tap(hint, "field")
        yield Type(text)
        yield from self.clear_popups()
        if enter:
            yield Press("enter")
            yield from self.clear_popups()

    def slide(self, title: str, value: int) -> Iterator[Action]:
        """Set the slider with this title to a value of 0–100."""
        yield from self.reveal(title, "slider")
        slider = self.find(title, "slider")
        assert slider is not None
        yield self.slide_to(slider, value)
        yield from self.clear_popups()

    def turn(self, column: int, value: str) -> Iterator[Action]:
        """Turn a picker wheel's column, counted from the left, until it shows the value in its middle."""
        for _ in range(LONGEST_SEARCH):
            middle = self._wheel_middles()[column]
            if middle.text == value:
                return
            lower = not (value.isdigit() and middle.text.isdigit()) or int(value) > int(middle.text)
            yield self.touch(self._beside(middle, 1 if lower else -1))
            yield from self.clear_popups()
        raise LookupError(f"The picker's column {column} does not come to {value!r}; it shows {middle.text!r}.")

    def _wheel_middles(self) -> list[Element]:
        middles = [e for e in self.screen.elements if e.role == "wheel" and e.checked]
        return sorted(middles, key=lambda e: e.bounds[0])

    def _beside(self, middle: Element, step: int) -> Element:
        """The wheel's value one line below (step 1) or above (-1) its middle."""
        left, top, _, bottom = middle.bounds
        wanted = top + step * (bottom - top)
        return next(
            e for e in self.screen.elements if e.role == "wheel" and e.bounds[0] == left and e.bounds[1] == wanted
        )

    def go_home(self) -> Iterator[Action]:
        yield from self.clear_popups()
        if self.screen.foreground != "launcher":
            yield Press("home")
            yield from self.clear_popups()

    def open_app(self, title: str) -> Iterator[Action]:
        """Go home, then tap the app's icon, in the app drawer if it is not on the home screen."""
        yield from self.go_home()
        if not self.sees(title, "icon"):
            yield Swipe(500, 700, 500, 300)  # up on the home screen opens the drawer
            yield from self.clear_popups()
        yield from self.tap(title, "icon")


class Suite(Protocol):
    """A set of templates with splits. Each suite is a module `distrl.tasks.<name>` with a value `SUITE`."""

    name: str

    @property
    def templates(self) -> Mapping[str, Template]: ...

    @property
    def splits(self) -> tuple[str, ...]: ...

    def tasks(self, split: str, count: int, seed: int) -> list[Task]:
        """`count` tasks of a split, spread evenly over its templates; the same for the same seed."""

    def only(self, names: Sequence[str]) -> Suite:
        """The same suite with just the templates whose name begins with one of these. Raises `UnknownName`."""


def load_suite(name: str, only: Sequence[str] = ()) -> Suite:
    """The suite of that name, or the one in a task file. Raises `ConfigError`."""
    suite: Suite
    if is_task_file(name):
        suite = importlib.import_module("distrl.tasks.files").open_suite(Path(name))
    elif name in SUITES.names():
        suite = SUITES.load(name)
    else:
        raise UnknownName("suite", name, (*SUITES.names(), *(f"FILE{ending}" for ending in TASK_FILES)))
    return suite.only(only) if only else suite
