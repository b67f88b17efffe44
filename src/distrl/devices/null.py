"""A device that does nothing, and takes as long over it as it is told: `null://phone?action_s=1&reset_s=2`.

What is left of an episode on it is the framework's own time. It waits, it burns no CPU; virtual time makes it free.
"""

from __future__ import annotations

import asyncio
import io
from functools import lru_cache
from urllib.parse import parse_qsl, urlsplit

from PIL import Image

from distrl.errors import ConfigError, UnknownName
from distrl.types import Action, Screen, Task

NAMES = ("phone",)
OPTIONS = ("action_s", "reset_s")
SIZE = 16
LONGEST_S = 1e6


class NullDevice:
    """Shows one plain colour, the task's, whatever is done to it."""

    def __init__(self, address: str) -> None:
        self.address = address
        waits = _waits(address)
        self._action_s = waits.get("action_s", 0.0)
        self._reset_s = waits.get("reset_s", 0.0)
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
    """One of 16³ colours: far enough apart that JPEG keeps them so."""
    colour = (16 * (number % 16), 16 * (number // 16 % 16), 16 * (number // 256 % 16))
    file = io.BytesIO()
    Image.new("RGB", (SIZE, SIZE), colour).save(file, "JPEG", quality=95, subsampling=0)
    return Screen(file.getvalue(), SIZE, SIZE, foreground="null")


def _waits(address: str) -> dict[str, float]:
    parts = urlsplit(address)
    if parts.netloc not in NAMES:
        raise UnknownName("null device", parts.netloc, NAMES)
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    for key in given:
        if key not in OPTIONS:
            raise UnknownName("option of null://phone", key, OPTIONS)
    return {key: _seconds(address, key, text) for key, text in given.items()}


def _seconds(address: str, key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= LONGEST_S:
        raise ConfigError(f"{address}: {key}={text!r} must be a number of seconds from 0 to {LONGEST_S:g}.")
    return value
