"""Screenshots in the formats of `screencap`, with injected faults."""

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
"""Bytes kept before the noise: the PNG signature, or width and height of a raw image."""
PNG_EFFORT = 1
"""Compression level: 1 of 9 is much faster and a little larger, and the bytes stay on this machine."""


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
    """The screen, encoded; damaged when a fault is injected."""
    faults = phone.fault_injector.draw("screencap")
    if "hang-screencap" in faults:
        await pause(faults["hang-screencap"])
    if "empty-screencap" in faults:
        return b""
    image = phone.picture()
    if "black-screencap" in faults:
        image = Image.new("RGB", image.size)
    data = encode(image)
    if "truncated-screencap" in faults:
        data = data[: len(data) // 3]
    if "garbled-screencap" in faults:
        data = data[:SPARED] + phone.fault_injector.noise(len(data) // 3) + data[SPARED + len(data) // 3 :]
    return data
