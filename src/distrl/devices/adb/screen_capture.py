"""Captures the screen: image, app in front, and the UI elements on request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from PIL import Image

from distrl.devices.adb import gestures, hierarchy, image_decoding, system_status, window
from distrl.devices.adb.connection import join_commands
from distrl.devices.adb.image_decoding import BadPicture
from distrl.devices.adb.phone_client import PhoneClient
from distrl.devices.adb.window import Front
from distrl.devices.jpeg import encode
from distrl.errors import DeviceGone, DeviceLost, NoPicture
from distrl.types import Element

T = TypeVar("T")

MARK = b"distrl-end-of-picture\n"
STATE_SCRIPT = f"{window.LOOK}; {system_status.UPTIME}"
RAW_SCRIPT = f"screencap; echo {MARK.decode().strip()}; {STATE_SCRIPT}"
"""One call for all, so that the app in front belongs to the image."""
PNG_SCRIPT = "screencap -p"
ATTEMPTS = ("raw", "raw", "png")


@dataclass(frozen=True, slots=True)
class CapturedScreen:
    """One capture of the screen."""

    image: bytes
    size: tuple[int, int]
    black: bool
    front: Front
    uptime_s: float | None = None
    """The phone's uptime at the capture; None where it cannot be read."""


class ScreenCapture:
    """Captures the screen of one phone and checks each image against the size of its display."""

    def __init__(self, client: PhoneClient) -> None:
        self._client = client
        self._upright: tuple[int, int] | None = None
        self._last: tuple[bytes, CapturedScreen] | None = None
        """The last raw bytes and their capture: equal bytes are not encoded again."""

    async def capture(self, *, wake: bool = True) -> CapturedScreen:
        """Tries raw twice, then PNG; an image must be complete and of the display's size. After a black one the display
        is woken and the next attempt is made. Raises `NoPicture` when all fail, `DeviceLost` when none is answered."""
        reasons: list[str] = []
        dark: CapturedScreen | None = None
        lost: DeviceLost | None = None
        for method in ATTEMPTS:
            try:
                shot = await (self._raw() if method == "raw" else self._png())
            except BadPicture as problem:
                reasons.append(f"{method}: {problem}")
                continue
            except DeviceGone:
                raise
            except DeviceLost as problem:
                lost = problem
                reasons.append(f"{method}: no answer")
                continue
            if not shot.black:
                return shot
            if dark is None and wake:
                await self._client.shell("waking it", join_commands([gestures.WAKE]))
            dark = shot
        if dark is not None:
            return dark
        if lost is not None and len(set(reasons)) == len({f"{method}: no answer" for method in ATTEMPTS}):
            raise lost
        raise NoPicture(self._client.address, dict.fromkeys(reasons))

    async def elements(self, size: tuple[int, int]) -> tuple[Element, ...] | None:
        """None when `uiautomator dump` fails or times out, as it does while an animation runs."""
        return await self._tree(lambda text: hierarchy.parse(text, size))

    async def bounds_by_id(self, size: tuple[int, int]) -> dict[str, tuple[int, int, int, int]]:
        """Bounds of the elements that have a resource id; empty when there is no UI tree."""
        return await self._tree(lambda text: hierarchy.bounds_by_id(text, size)) or {}

    async def _tree(self, read: Callable[[str], T]) -> T | None:
        try:
            return read((await self._client.shell("the UI tree", hierarchy.DUMP)).text)
        except hierarchy.NoTree:
            return None
        except DeviceGone:
            raise
        except DeviceLost:
            return None

    async def _raw(self) -> CapturedScreen:
        def read(data: bytes) -> CapturedScreen:
            pixels, text = image_decoding.split_at_mark(data, MARK)
            front, uptime_s = Front.parse(text), system_status.parse_uptime(text)
            if self._last is None or self._last[0] != pixels:
                self._last = (pixels, _decoded(image_decoding.from_raw(pixels), front))
            return replace(self._last[1], front=front, uptime_s=uptime_s)

        return await self._checked_size(await self._client.output("screencap", RAW_SCRIPT, read))

    async def _png(self) -> CapturedScreen:
        text = (await self._client.shell("dumpsys window", STATE_SCRIPT)).text
        front, uptime_s = Front.parse(text), system_status.parse_uptime(text)
        shot = await self._client.output(
            "screencap -p", PNG_SCRIPT, lambda data: _decoded(image_decoding.from_png(data), front)
        )
        return await self._checked_size(replace(shot, uptime_s=uptime_s))

    async def _checked_size(self, shot: CapturedScreen) -> CapturedScreen:
        if self._upright is None or not window.fits(shot.size, self._upright, shot.front.sideways):
            answer = await self._client.shell("wm size", "wm size")
            self._upright = window.parse_size(answer.text)
        if not window.fits(shot.size, self._upright, shot.front.sideways):
            raise BadPicture(f"it has {shot.size[0]}x{shot.size[1]} pixels and `wm size` says {self._upright}")
        return shot


def _decoded(image: Image.Image, front: Front) -> CapturedScreen:
    return CapturedScreen(encode(image), image.size, image_decoding.is_black(image), front)
