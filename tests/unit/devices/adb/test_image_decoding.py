"""Only whole pictures pass."""

from __future__ import annotations

import io
import random
import struct

import pytest
from PIL import Image

from distrl.devices.adb.image_decoding import BadPicture, from_png, from_raw, is_black, split_at_mark

MARK = b"the-end\n"
COLOURS = Image.frombytes("RGB", (7, 5), random.Random(1).randbytes(7 * 5 * 3))


def raw(image=COLOURS, *, pixel_format=1, header=16, size=None):
    width, height = size or image.size
    return struct.pack("<IIII", width, height, pixel_format, 1)[:header] + image.convert("RGBA").tobytes()


def png(image=COLOURS):
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("header", [12, 16])
def test_a_raw_picture_comes_without_its_alpha(header):
    image = from_raw(raw(header=header))
    assert image.tobytes() == COLOURS.tobytes()
    assert image.mode == "RGB"


def test_the_last_mark_parts_picture_and_text():
    assert split_at_mark(MARK + raw() + MARK + b"more", MARK) == (MARK + raw(), "more")


@pytest.mark.parametrize(
    "data",
    [b"", b"\0" * 15, raw()[:-1], raw() + b"\0", raw()[: len(raw()) // 3], raw(pixel_format=77), raw(size=(5, 8))]
    + [raw(size=(0, 0)), raw(size=(2**31, 1)), b"screencap: error opening display\n"],
)  # fmt: skip
def test_raw_bytes_that_are_no_whole_picture_are_refused(data):
    with pytest.raises(BadPicture):
        from_raw(data)


@pytest.mark.parametrize("data", [b"", raw(), raw() + MARK[:-1]])
def test_an_answer_that_breaks_off_is_refused_however_much_came(data):
    with pytest.raises(BadPicture):
        split_at_mark(data, MARK)


def test_a_png_is_what_was_sent():
    assert from_png(png()).tobytes() == COLOURS.tobytes()


@pytest.mark.parametrize("data", [b"", png()[:-20], png()[: len(png()) // 3], raw(), b"\xff\xd8" + png()])
def test_bytes_that_are_no_whole_png_are_refused(data):
    with pytest.raises(BadPicture):
        from_png(data)


def test_a_png_with_noise_inside_is_refused():
    whole = bytearray(png())
    for place in range(45, len(whole) - 20, 7):
        whole[place] ^= 0x55
    with pytest.raises(BadPicture):
        from_png(bytes(whole))


def test_black_is_black_everywhere():
    dark = Image.new("RGB", (9, 9))
    assert is_black(dark)
    dark.putpixel((8, 8), (0, 0, 1))
    assert not is_black(dark)
