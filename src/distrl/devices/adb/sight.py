"""A look at a phone: picture, what is in front, elements if wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from PIL import Image

from distrl.devices.adb import capture, gestures, hierarchy, vitals, window
from distrl.devices.adb.calls import Calls
from distrl.devices.adb.capture import BadPicture
from distrl.devices.adb.line import joined
from distrl.devices.adb.window import Front
from distrl.devices.jpeg import encode
from distrl.errors import DeviceGone, DeviceLost, NoPicture
from distrl.types import Element

T = TypeVar("T")

MARK = b"distrl-end-of-picture\n"
BESIDE = f"{window.LOOK}; {vitals.UPTIME}"
RAW = f"screencap; echo {MARK.decode().strip()}; {BESIDE}"
"""One call for all: what is in front is what the picture shows."""
PNG = "screencap -p"
WAYS = ("raw", "raw", "png")


@dataclass(frozen=True, slots=True)
class Look:
    """What came of one look."""

    image: bytes
    size: tuple[int, int]
    black: bool
    front: Front
    uptime_s: float | None = None
    """When it was taken, by the phone's own count; None where it does not tell."""


class Sight:
    """Looks at one phone. Knows its size upright, and asks again when a picture has another one."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._upright: tuple[int, int] | None = None
        self._last: tuple[bytes, Look] | None = None
        """A picture whose every byte is as before is not encoded again."""

    async def look(self, *, wake: bool = True) -> Look:
        """Raw twice, then as PNG; each must be whole and of the phone's size. A black one is looked at once more, with
        the display awake. Raises `NoPicture` when every way fails, `DeviceLost` when the phone stops answering."""
        reasons: list[str] = []
        dark: Look | None = None
        lost: DeviceLost | None = None
        for way in WAYS:
            try:
                look = await (self._raw() if way == "raw" else self._png())
            except BadPicture as problem:
                reasons.append(f"{way}: {problem}")
                continue
            except DeviceGone:
                raise
            except DeviceLost as problem:
                lost = problem
                reasons.append(f"{way}: no answer")
                continue
            if not look.black:
                return look
            if dark is None and wake:
                await self._calls.shell("waking it", joined([gestures.WAKE]))
            dark = look
        if dark is not None:
            return dark
        if lost is not None and len(set(reasons)) == len({f"{way}: no answer" for way in WAYS}):
            raise lost
        raise NoPicture(self._calls.address, dict.fromkeys(reasons))

    async def elements(self, size: tuple[int, int]) -> tuple[Element, ...] | None:
        """None when the phone gives no tree, because something on it never stops moving or it takes too long."""
        return await self._tree(lambda text: hierarchy.parse(text, size))

    async def places(self, size: tuple[int, int]) -> dict[str, tuple[int, int, int, int]]:
        """Where the elements with a name are; nothing when the phone gives no tree."""
        return await self._tree(lambda text: hierarchy.places(text, size)) or {}

    async def _tree(self, read: Callable[[str], T]) -> T | None:
        try:
            return read((await self._calls.shell("the UI tree", hierarchy.DUMP)).text)
        except hierarchy.NoTree:
            return None
        except DeviceGone:
            raise
        except DeviceLost:
            return None

    async def _raw(self) -> Look:
        def read(data: bytes) -> Look:
            pixels, text = capture.split(data, MARK)
            front, uptime_s = Front.parse(text), vitals.parse_uptime(text)
            if self._last is None or self._last[0] != pixels:
                self._last = (pixels, _look(capture.from_raw(pixels), front))
            return replace(self._last[1], front=front, uptime_s=uptime_s)

        return await self._of_right_size(await self._calls.output("screencap", RAW, read))

    async def _png(self) -> Look:
        text = (await self._calls.shell("dumpsys window", BESIDE)).text
        front, uptime_s = Front.parse(text), vitals.parse_uptime(text)
        look = await self._calls.output("screencap -p", PNG, lambda data: _look(capture.from_png(data), front))
        return await self._of_right_size(replace(look, uptime_s=uptime_s))

    async def _of_right_size(self, look: Look) -> Look:
        if self._upright is None or not window.fits(look.size, self._upright, look.front.sideways):
            answer = await self._calls.shell("wm size", "wm size")
            self._upright = window.parse_size(answer.text)
        if not window.fits(look.size, self._upright, look.front.sideways):
            raise BadPicture(f"it has {look.size[0]}x{look.size[1]} pixels and `wm size` says {self._upright}")
        return look


def _look(image: Image.Image, front: Front) -> Look:
    return Look(encode(image), image.size, capture.is_black(image), front)
