"""Pictures of the screen, as `screencap` gives them, whole or broken on purpose."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable

from PIL import Image

from distrl.phone_server.phone import ServedPhone, pause

RGBA_8888 = 1
SRGB = 1
HEADER = struct.Struct("<IIII")
SPARED = 8
"""Bytes that noise leaves: a PNG still calls itself one, a raw picture still has its width and height."""
PNG_EFFORT = 1
"""Of 9: a little larger and much faster; the bytes stay on this machine."""


def png(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=PNG_EFFORT)
    return file.getvalue()


def raw(image: Image.Image) -> bytes:
    """Width, height, format and colour space, then four bytes a pixel."""
    return HEADER.pack(image.width, image.height, RGBA_8888, SRGB) + image.convert("RGBA").tobytes()


def jpeg(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=80)
    return file.getvalue()


async def capture(phone: ServedPhone, encode: Callable[[Image.Image], bytes]) -> bytes:
    """The screen now, encoded; or what a struck phone gives in its place."""
    struck = phone.dice.drawn("screencap")
    if "hang-screencap" in struck:
        await pause(struck["hang-screencap"])
    if "empty-screencap" in struck:
        return b""
    image = phone.picture()
    if "black-screencap" in struck:
        image = Image.new("RGB", image.size)
    data = encode(image)
    if "truncated-screencap" in struck:
        data = data[: len(data) // 3]
    if "garbled-screencap" in struck:
        data = data[:SPARED] + phone.dice.noise(len(data) // 3) + data[SPARED + len(data) // 3 :]
    return data
