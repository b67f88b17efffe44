"""The simulated phone: one plain tree of state, actions that change it, and the screen it shows.

Everything that decides the future is in the tree: `restore` and the same actions give the same screens, byte for byte.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from PIL import Image

from distrl.devices.sim import events, popups, stack, state, theme
from distrl.devices.sim.apps import APPS, SYSTEM
from distrl.devices.sim.apps.base import App, Context, new_frame
from distrl.devices.sim.compose import Composition
from distrl.devices.sim.draw import Painter
from distrl.devices.sim.scene import HEIGHT, WIDTH, Box, Op, Target, Word
from distrl.devices.sim.ui import Event
from distrl.types import COORDINATE_MAX, Action, Element, LongPress, Press, Swipe, Tap, Tree, Type

TAP_SLOP = 8
"""A swipe shorter than this many pixels is a tap."""
START_ELSEWHERE = 0.3
"""Share of phones that start inside some app and not on the home screen."""


@dataclass(frozen=True, slots=True)
class Rendering:
    """What the phone shows, in pixels: the picture, its elements, every readable word with its centre, targets."""

    image: Image.Image
    elements: tuple[Element, ...]
    words: tuple[Word, ...]
    targets: tuple[Box, ...]


class Phone:
    """A phone in use, made from a seed."""

    def __init__(
        self, seed: int, *, popup_probability: float = 0.0, scale: int = 1, apps: Mapping[str, App] | None = None
    ) -> None:
        self.apps = dict(APPS if apps is None else apps) | {"os": SYSTEM}
        self.scale = scale
        self.state = self._seeded(seed, popup_probability)
        self._composition: Composition | None = None
        self._painted: tuple[list[Op], Image.Image] | None = None

    def _seeded(self, seed: int, popup_probability: float) -> Tree:
        """Each app draws from a stream of its own, so that a new app changes no other."""
        rng = random.Random(f"{seed}/os")
        tree: Tree = {
            "os": {
                "seed": seed,
                "stack": [new_frame("launcher", "home")],
                "dialog": None,
                "popup": None,
                "snackbar": "",
                "theme": theme.seeded(rng),
                "wallpaper": rng.randrange(theme.WALLPAPERS),
                "clock": f"{rng.randint(7, 22):02d}:{rng.randrange(60):02d}",
                "battery": rng.randint(21, 99),
                "used": [],
                "ticks": 0,
                "popup_probability": popup_probability,
            },
            "permissions": {"notifications": [], "rated": []},
        }
        for name, app in self.apps.items():
            if name != "os":
                tree[name] = state.copy(app.seed(random.Random(f"{seed}/{name}")))
        return tree

    # -- the tree

    def snapshot(self) -> Tree:
        tree: Tree = state.copy(self.state)
        return tree

    def restore(self, tree: Tree) -> None:
        self.state = state.copy(tree)
        self._composition = None

    def prepare(self, edits: tuple[tuple[object, ...], ...]) -> None:
        """Apply a task's start edits. Unless one of them opens a page, some phones start inside an app by chance."""
        seed = self.state["os"]["seed"]
        state.apply(self.state, edits, seed)
        rng = random.Random(f"{seed}/start")
        if not any(edit[0] == "open" for edit in edits) and rng.random() < START_ELSEWHERE:
            app = self.apps[rng.choice(self._app_ids())]
            self.state["os"]["stack"].append(new_frame(app.id, app.home))
        self._composition = None
        self.compose()

    def _app_ids(self) -> list[str]:
        return sorted(name for name in self.apps if name not in ("launcher", "os"))

    @property
    def system(self) -> Tree:
        system: Tree = self.state["os"]
        return system

    @property
    def frame(self) -> Tree:
        frame: Tree = self.system["stack"][-1]
        return frame

    # -- what it shows

    def compose(self) -> Composition:
        if self._composition is None:
            self._composition = Composition(self.state, self.apps)
        return self._composition

    def render(self) -> Rendering:
        """The image is drawn again only when it differs from the last one."""
        scene = self.compose().scene
        if self._painted is None or self._painted[0] != scene.ops:
            self._painted = (scene.ops, Painter(self.scale).paint(scene.ops))
        s = self.scale
        elements = tuple(scene.elements)
        words = tuple(scene.words)
        targets = tuple(target.box for target in scene.targets)
        if s != 1:
            elements = tuple(
                Element(e.text, e.role, _scaled(e.bounds, s), e.checked, e.focused, e.clickable) for e in elements
            )
            words = tuple((word, x * s, y * s) for word, x, y in words)
            targets = tuple(_scaled(box, s) for box in targets)
        return Rendering(self._painted[1], elements, words, targets)

    # -- what is done to it

    def perform(self, action: Action) -> None:
        """Do one action; `Wait`, `Invalid` and the actions that end an episode change nothing."""
        if not isinstance(action, Tap | LongPress | Swipe | Type | Press):
            return
        composition = self.compose()
        self.system["snackbar"] = ""
        if isinstance(action, Tap):
            self._tap(composition, *_pixel(action.x, action.y))
        elif isinstance(action, LongPress):
            self._hold(composition, *_pixel(action.x, action.y))
        elif isinstance(action, Swipe):
            self._swipe(composition, _pixel(action.x, action.y), _pixel(action.to_x, action.to_y))
        elif isinstance(action, Type):
            self._type(action.text)
        else:
            self._press(action.key)
        stack.tidy(self.system)
        self.system["popup"] = popups.chance(self.system, self._app_ids()) or self.system["popup"]
        self._composition = None

    def _tap(self, composition: Composition, x: float, y: float) -> None:
        target = _hit(composition.scene.targets, x, y)
        if target is None:
            if self.system["popup"] is None:
                self.frame["focus"] = ""
        elif target.slide:
            self._send((target.slide[0], _fraction(target.slide, x)))
        elif target.tap is not None:
            self._answer(target.tap)

    def _hold(self, composition: Composition, x: float, y: float) -> None:
        target = _hit(composition.scene.targets, x, y)
        if target is not None and target.long is not None:
            self._send(target.long)

    def _swipe(self, composition: Composition, start: tuple[float, float], end: tuple[float, float]) -> None:
        right, down = end[0] - start[0], end[1] - start[1]
        target = _hit(composition.scene.targets, *start)
        if max(abs(right), abs(down)) < TAP_SLOP:
            self._tap(composition, *start)
        elif target is not None and target.slide:
            self._send((target.slide[0], _fraction(target.slide, end[0])))
        elif target is not None and target.spin is not None and abs(down) > abs(right):
            event, column, options, at = target.spin
            self._send((event, column, options[(at - round(down / 28)) % len(options)]))
        elif self.system["popup"] is not None:
            return
        elif abs(down) >= abs(right) and composition.scrollable:
            self._scroll(composition, -round(down))
        elif self.system["dialog"] is None and hasattr(self.apps[self.frame["app"]], "on_swipe"):
            horizontal = "left" if right < 0 else "right"
            self._send(("swipe", horizontal if abs(right) > abs(down) else "up" if down < 0 else "down"))

    def _scroll(self, composition: Composition, distance: int) -> None:
        dialog = self.system["dialog"]
        if dialog is not None:
            dialog["scroll"] = max(0, min(dialog.get("scroll", 0) + distance, composition.scrollable))
            return
        distance = -distance if composition.anchored_below else distance
        self.frame["focus"] = ""  # else the page would jump back to the focused field
        self.frame["scroll"] = max(0, min(self.frame["scroll"] + distance, composition.scrollable))

    def _type(self, text: str) -> None:
        key = self.frame["focus"]
        if self.system["popup"] is not None:
            return
        if key:
            self.frame["fields"][key] = self.frame["fields"].get(key, "") + text
        else:
            self.system["snackbar"] = "Tap a field first"

    def _press(self, key: str) -> None:
        if key == "home":
            stack.go_home(self.system)
        elif key == "back":
            stack.go_back(self.system)
        elif key == "recents":
            stack.show_recents(self.system)
        elif self.frame["focus"] and self.system["popup"] is None:
            self._submit(self.frame["focus"])

    def _answer(self, event: Event) -> None:
        """Send an event to the phone itself (its name begins with @) or to the app in front."""
        name, arguments = event[0], event[1:]
        if name in ("@focus", "@clear"):
            self.frame["focus"] = arguments[0]
            if name == "@clear":
                self.frame["fields"][arguments[0]] = ""
        elif name == "@key":
            self._key(arguments[0])
        elif name == "@press":
            self._press(arguments[0])
        elif name == "@popup":
            popups.answer(self.state, arguments[0])
        elif name == "@submit":
            self._submit(arguments[0])
        elif name == "@close":
            stack.close_dialog(self.system)
        elif name == "@button":
            stack.close_dialog(self.system)
            self._send(arguments[0])
        else:
            self._send(event)

    def _key(self, name: str) -> None:
        key = self.frame["focus"]
        text = self.frame["fields"].get(key, "")
        if name == "Enter":
            self._submit(key)
        elif name == "Backspace":
            self.frame["fields"][key] = text[:-1]
        else:
            self.frame["fields"][key] = text + (" " if name == "Space" else name)

    def _submit(self, key: str) -> None:
        self.frame["focus"] = ""
        if hasattr(self.apps[self.frame["app"]], "on_submit"):
            self._send(("submit", key))

    def _send(self, event: Event) -> None:
        self.frame["focus"] = ""
        events.send(self.apps, Context(self.state, self.frame), event)


def _pixel(x: int, y: int) -> tuple[float, float]:
    """0–1000 → logical pixels; 1000 is the last pixel, not one beyond."""
    return min(x * WIDTH / COORDINATE_MAX, WIDTH - 1), min(y * HEIGHT / COORDINATE_MAX, HEIGHT - 1)


def _hit(targets: list[Target], x: float, y: float) -> Target | None:
    return next((target for target in reversed(targets) if target.holds(x, y)), None)


def _fraction(track: tuple[str, int, int], x: float) -> int:
    share = (x - track[1]) / (track[2] - track[1])
    return round(max(0.0, min(1.0, share)) * 10) * 10


def _scaled(box: Box, scale: int) -> Box:
    return box[0] * scale, box[1] * scale, box[2] * scale, box[3] * scale
