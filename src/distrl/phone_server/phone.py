"""The simulated phone as adbd sees it: screen, input in pixels, apps, files, settings, power."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil, floor

from PIL import Image

from distrl.devices.sim import events, stack, state
from distrl.devices.sim.apps.base import Context
from distrl.devices.sim.apps.web.places import resolve
from distrl.devices.sim.latency import latency_model
from distrl.devices.sim.options import SimOptions
from distrl.devices.sim.phone import Phone, Rendering
from distrl.devices.sim.scene import HEIGHT, WIDTH
from distrl.devices.sim.state import BadEdit
from distrl.phone_server import keys
from distrl.phone_server.faults import FaultInjector, Faults
from distrl.phone_server.files import Files
from distrl.phone_server.packages import USUAL_KEYBOARD, package_of
from distrl.phone_server.power import Clock, Power
from distrl.types import COORDINATE_MAX, Action, LongPress, Press, Swipe, Tap, Tree, Type

LARGEST_SCALE = 5
"""A screen of 960x1920, which takes 25 times as long to draw."""
HELD_S = 0.4
"""From this duration on a touch without movement is a long press."""
STILL = 8
"""Logical pixels from which a touch is a swipe."""
LONGEST_S = 1e9
KEYBOARD_SETTING = "secure/default_input_method"


@dataclass(frozen=True, slots=True)
class PhoneModel:
    """How a served phone is configured."""

    address: str = "sim://phone"
    """Latency and pop-ups, as for `sim://`."""
    seed: int = 0
    scale: int = 1
    """Size of the screen in multiples of the simulated phone's own."""
    faults: Faults = field(default_factory=dict)


class ServedPhone:
    """One phone. A reset to a task keeps its files, settings and keyboard; a reboot keeps the data of its apps."""

    def __init__(self, model: PhoneModel, name: str, clock: Clock = time.monotonic) -> None:
        options = SimOptions.parse(model.address)
        self.name = name
        self.model = model
        self.fault_injector = FaultInjector(model.faults, f"{model.seed}/{name}/faults")
        self.power = Power(self.fault_injector, clock)
        self.files = Files(int(self.power.now), full=self.power.storage_full)
        self.settings: dict[str, str] = {}
        self.clipboard = ""
        self.automators: set[int] = set()
        """Ports that a uiautomator2 server listens on."""
        self.hang_up: Callable[[], None] = lambda: None
        """Closes its connections; set by `PhoneListener`."""
        self._popups = options.popups
        self._latency = latency_model(options.latency, f"{model.seed}/{name}", options.scale)
        self._phone = Phone(model.seed, popup_probability=self._popups, scale=model.scale)
        self._before = self._phone.snapshot()
        self._still = self._phone.render()

    def reboot(self) -> None:
        """Back to the home screen with no app running; connections are closed."""
        self.power.boot()
        self.files.full = self.power.storage_full
        self.automators.clear()
        self._phone.perform(Press("home"))
        self.hang_up()

    @property
    def keyboard(self) -> str:
        return self.settings.get(KEYBOARD_SETTING, USUAL_KEYBOARD)

    @keyboard.setter
    def keyboard(self, name: str) -> None:
        self.settings[KEYBOARD_SETTING] = name

    # -- tasks

    async def reset(self, seed: int, start: tuple[tuple[object, ...], ...]) -> None:
        """A new phone from a task's seed and start edits. Raises `BadEdit`."""
        self._latency.begin(seed)
        await pause(self._latency.reset_s())
        phone = Phone(seed, popup_probability=self._popups, scale=self.model.scale)
        try:
            phone.prepare(start)
        except (AttributeError, LookupError, TypeError, ValueError) as problem:
            raise BadEdit(f"This phone cannot show the page that a task starts on: {problem}.") from problem
        self._phone, self._before, self.power.awake = phone, phone.snapshot(), True

    def evidence(self) -> Tree:
        """What a rule judge reads; see `distrl.devices.base.Inspectable`."""
        self._phone.compose()
        return {"before": state.copy(self._before), "after": self._phone.snapshot()}

    def save(self) -> Tree:
        """State of all apps, for `load`."""
        return self._phone.snapshot()

    def load(self, tree: Tree) -> None:
        """Restore a saved state, of this phone or one of the same model; ends a freeze."""
        phone = Phone(self.model.seed, popup_probability=self._popups, scale=self.model.scale)
        phone.restore(tree)
        phone.compose()
        self._phone, self._before = phone, phone.snapshot()
        self._still = phone.render()

    # -- what it shows

    def render(self) -> Rendering:
        return self._still if self.power.frozen else self._phone.render()

    @property
    def size(self) -> tuple[int, int]:
        return WIDTH * self.model.scale, HEIGHT * self.model.scale

    def picture(self) -> Image.Image:
        image = self.render().image
        return image if self.power.awake else Image.new("RGB", image.size)

    @property
    def front(self) -> str:
        """Id of the app in front."""
        app: str = self._phone.frame["app"]
        return app

    @property
    def page(self) -> str:
        page: str = self._phone.frame["page"]
        return page

    @property
    def popup(self) -> Tree | None:
        popup: Tree | None = self._phone.system["popup"]
        return popup

    @property
    def typing(self) -> bool:
        return bool(self._phone.frame["focus"])

    @property
    def apps(self) -> dict[str, str]:
        """Id → title of the apps that can be opened."""
        return {name: app.title for name, app in self._phone.apps.items() if name != "os"}

    @property
    def running(self) -> list[str]:
        """Ids of the apps with an open page, the one in front last."""
        return list(dict.fromkeys(frame["app"] for frame in self._phone.system["stack"]))

    # -- what is done to it

    async def perform(self, action: Action) -> None:
        active = self.fault_injector.draw("input")
        if "hang-input" in active:
            await pause(active["hang-input"])
            return
        if "freeze" in active and not self.power.frozen:
            self._still = self._phone.render()
            self.power.freeze(active["freeze"])
        await pause(self._latency.action_s())
        if self.power.awake and not self.power.frozen:
            self._phone.perform(action)
            if "anr" in active and self.front != "os":
                self._edit(lambda tree: tree["os"].update(popup={"kind": "anr", "app": self.front}))

    async def touch(self, start: tuple[float, float], end: tuple[float, float], seconds: float) -> None:
        """A touch from one pixel to another: a tap, a long press or a swipe."""
        slip = max(abs(end[0] - start[0]), abs(end[1] - start[1])) / self.model.scale
        if slip >= STILL:
            await self.perform(Swipe(*self._coordinates(start), *self._coordinates(end)))
        elif seconds >= HELD_S:
            await self.perform(LongPress(*self._coordinates(start)))
        else:
            await self.perform(Tap(*self._coordinates(start)))

    async def press(self, code: int) -> None:
        if code in (keys.POWER, keys.SLEEP, keys.WAKEUP):
            self.power.awake = code == keys.WAKEUP or (code == keys.POWER and not self.power.awake)
        elif code in keys.ACTIONS:
            await self.perform(keys.ACTIONS[code])
        elif code in keys.ON_SCREEN:
            await self._tap_on(keys.ON_SCREEN[code])

    async def _tap_on(self, name: str) -> None:
        for element in self.render().elements:
            if element.text == name and element.role in ("key", "icon"):
                left, top, right, bottom = element.bounds
                await self.touch(((left + right) / 2, (top + bottom) / 2), ((left + right) / 2, (top + bottom) / 2), 0)
                return

    async def type(self, text: str) -> None:
        if text:
            await self.perform(Type(text))

    def clear_field(self) -> None:
        """Clear the focused field."""

        def clear(tree: Tree) -> None:
            frame = tree["os"]["stack"][-1]
            if frame["focus"]:
                frame["fields"][frame["focus"]] = ""

        self._edit(clear)

    def _coordinates(self, pixel: tuple[float, float]) -> tuple[int, int]:
        x, y = pixel[0] / self.model.scale, pixel[1] / self.model.scale
        return _coordinate(x, WIDTH), _coordinate(y, HEIGHT)

    # -- apps

    def open_app(self, app: str) -> None:
        page = self._phone.apps[app].home

        def opened(tree: Tree) -> None:
            stack.go_home(tree["os"])
            state.apply(tree, (("open", app, page),), tree["os"]["seed"])
            stack.tidy(tree["os"])

        self._edit(opened)

    def visit(self, url: str) -> None:
        """Open the browser at an address."""
        self.open_app("browser")

        def visited(tree: Tree) -> None:
            events.send(self._phone.apps, Context(tree, tree["os"]["stack"][-1]), ("visit", resolve(url)))
            stack.tidy(tree["os"])

        self._edit(visited)

    def stop_app(self, app: str) -> None:
        def stopped(tree: Tree) -> None:
            system = tree["os"]
            if system["stack"][-1]["app"] == app:
                system["dialog"] = system["popup"] = None
            system["stack"] = [frame for frame in system["stack"] if frame["app"] != app]
            stack.tidy(system)

        self._edit(stopped)

    def clear_app(self, app: str) -> None:
        """Stop an app and reset its data."""
        self.stop_app(app)
        seed = self._phone.system["seed"]
        fresh = state.copy(self._phone.apps[app].seed(random.Random(f"{seed}/{app}")))
        self._edit(lambda tree: tree.update({app: fresh}))

    def _edit(self, change: Callable[[Tree], None]) -> None:
        if self.power.frozen:
            return
        tree = self._phone.snapshot()
        change(tree)
        self._phone.restore(tree)

    @property
    def focused_window(self) -> str:
        """As `dumpsys window` names it."""
        popup = self.popup
        if popup is not None and popup["kind"] == "anr":
            return f"Application Not Responding: {package_of(popup['app'])}"
        if popup is not None:
            return "com.android.permissioncontroller/.GrantPermissions"
        return f"{package_of(self.front)}/.{self.page.title().replace('_', '')}"


def _coordinate(place: float, length: int) -> int:
    """Logical pixels → 0–1000, such that both are on the same pixel: the inverse of what the adb driver makes of a
    coordinate."""
    exact = place * COORDINATE_MAX / length
    nearest = ceil(exact - 1e-3)
    if nearest * length // COORDINATE_MAX != floor(place):
        nearest = floor(exact)
    return max(0, min(COORDINATE_MAX, nearest))


async def pause(seconds: float) -> None:
    if seconds > 0:
        await asyncio.sleep(min(seconds, LONGEST_S))
