"""The simulated phone as a device: `sim://phone?latency=emulator&scale=0.01&popups=0.05`."""

from __future__ import annotations

import asyncio

from PIL import Image

from distrl.devices.jpeg import encode
from distrl.devices.sim import state
from distrl.devices.sim.latency import latency_model
from distrl.devices.sim.options import SimOptions
from distrl.devices.sim.phone import Phone
from distrl.types import Action, Screen, Task, Tree


class SimPhone:
    """A simulated phone in this process. A rule judge can read its state."""

    def __init__(self, address: str, *, seed: int = 0, name: str = "") -> None:
        options = SimOptions.parse(address)
        self.address = address
        self.name = name or address
        self._popups = options.popups
        self._latency = latency_model(options.latency, f"{seed}/{self.name}", options.scale)
        self._phone = Phone(seed, popup_probability=options.popups)
        self._before = self._phone.snapshot()
        self._shown: tuple[Image.Image, bytes, str] | None = None

    async def reset(self, task: Task) -> Screen:
        """A phone seeded by the task, with the task's edits applied."""
        self._latency.begin(task.seed)
        await _pause(self._latency.reset_s())
        self._phone = Phone(task.seed, popup_probability=self._popups)
        self._phone.prepare(task.start)
        self._before = self._phone.snapshot()
        return await self.screen()

    async def perform(self, action: Action) -> None:
        await _pause(self._latency.action_s())
        self._phone.perform(action)

    async def screen(self) -> Screen:
        """The screen now. A picture that did not change is not encoded again."""
        rendering = self._phone.render()
        foreground = self._phone.frame["app"]
        if self._shown is None or self._shown[0] is not rendering.image:
            self._shown = (rendering.image, encode(rendering.image), "")
        image, data, digest = self._shown
        screen = Screen(data, image.width, image.height, rendering.elements, foreground, digest)
        self._shown = (image, data, screen.digest)
        return screen

    async def close(self) -> None:
        self._shown = None

    async def evidence(self) -> Tree:
        self._phone.compose()  # scroll positions settle while the page is laid out
        return {"before": state.copy(self._before), "after": self._phone.snapshot()}


async def _pause(seconds: float) -> None:
    if seconds > 0:
        await asyncio.sleep(seconds)
