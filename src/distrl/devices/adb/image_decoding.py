"""Decodes what `screencap` prints, raw or PNG; incomplete or damaged images raise `BadPicture`."""

from __future__ import annotations

import io
import struct

from PIL import Image

HEADERS = (16, 12)
"""Bytes before the pixels: width, height, format and, since Android 9, the colour space."""
RGBA_FORMATS = (1, 2)
"""RGBA_8888 and RGBX_8888."""
PIXEL = 4
LARGEST_SIDE = 16384
PNG_SIGNATURE, PNG_END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"
COLOUR_SPACES = range(0, 256)


class BadPicture(Exception):  # noqa: N818 - retried; `NoPicture` after the last attempt
    """The bytes are not a complete image."""


def split_at_mark(data: bytes, mark: bytes) -> tuple[bytes, str]:
    """What `screencap` wrote before the mark, and the text after it."""
    end = data.rfind(mark)
    if end < 0:
        raise BadPicture("the answer ended early" if data else "it was empty")
    return data[:end], data[end + len(mark) :].decode(errors="replace")


def from_raw(data: bytes) -> Image.Image:
    """The pixels without their alpha."""
    if len(data) < max(HEADERS):
        raise BadPicture(f"only {len(data)} bytes came" if data else "it was empty")
    width, height, pixel_format, colour_space = struct.unpack_from("<IIII", data)
    if not (0 < width <= LARGEST_SIDE and 0 < height <= LARGEST_SIDE):
        raise BadPicture(f"its header says {width}x{height}")
    if pixel_format not in RGBA_FORMATS:
        raise BadPicture(f"pixel format {pixel_format} is not known")
    header = len(data) - width * height * PIXEL
    if header not in HEADERS:
        raise BadPicture(f"{len(data)} bytes are not {width}x{height} pixels")
    if header == HEADERS[0] and colour_space not in COLOUR_SPACES:
        raise BadPicture(f"colour space {colour_space} is not known")
    return Image.frombytes("RGB", (width, height), data[header:], "raw", "RGBX")


def from_png(data: bytes) -> Image.Image:
    """PNG has checksums, so a damaged image does not decode."""
    if not data.startswith(PNG_SIGNATURE):
        raise BadPicture("it was empty" if not data else "it is no PNG")
    if not data.endswith(PNG_END):
        raise BadPicture("the answer ended early")
    try:
        with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
            image.load()
            return image.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise BadPicture(f"its PNG is broken ({error})") from error


def is_black(image: Image.Image) -> bool:
    """Whether every pixel is black: a secure window, or the display is off."""
    return image.getbbox() is None
