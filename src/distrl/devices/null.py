"""A device that only sleeps: `null://phone?action_s=1&reset_s=2`.

Measures the overhead of the framework: it uses no CPU, and no real time on a virtual clock.
"""

from __future__ import annotations

import asyncio
import io
from functools import lru_cache
from urllib.parse import urlsplit

from PIL import Image

from distrl.devices.query import Query
from distrl.errors import UnknownName
from distrl.types import Action, Screen, Task

NAMES = ("phone",)
OPTIONS = ("action_s", "reset_s")
SIZE = 16
LONGEST_S = 1e6


class NullDevice:
    """Shows one plain colour, chosen by the task's seed; actions change nothing."""

    def __init__(self, address: str) -> None:
        self.address = address
        name = urlsplit(address).netloc
        if name not in NAMES:
            raise UnknownName("null device", name, NAMES)
        query = Query(address, "null://phone", OPTIONS)
        self._action_s = query.seconds("action_s", 0.0, LONGEST_S)
        self._reset_s = query.seconds("reset_s", 0.0, LONGEST_S)
        self._screen = _plain(0)

    async def reset(self, task: Task) -> Screen:
        if self._reset_s:
            await asyncio.sleep(self._reset_s)
        self._screen = _plain(task.seed % 4096)
        return self._screen

    async def perform(self, action: Action) -> None:
        if self._action_s:
            await asyncio.sleep(self._action_s)

    async def screen(self) -> Screen:
        return self._screen

    async def close(self) -> None:
        return


@lru_cache(maxsize=4096)
def _plain(number: int) -> Screen:
    """One of 16³ colours, far enough apart to stay distinct in JPEG."""
    colour = (16 * (number % 16), 16 * (number // 16 % 16), 16 * (number // 256 % 16))
    file = io.BytesIO()
    Image.new("RGB", (SIZE, SIZE), colour).save(file, "JPEG", quality=95, subsampling=0)
    return Screen(file.getvalue(), SIZE, SIZE, foreground="null")
