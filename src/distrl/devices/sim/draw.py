"""Scene → picture. Every shape, letter line and icon is drawn once as a mask and pasted from then on."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from PIL import Image, ImageDraw

from distrl.devices.sim import glyphs, lettering, pictures
from distrl.devices.sim.scene import HEIGHT, WIDTH, Box, Op

OVERSAMPLING = 4


@lru_cache(maxsize=2048)
def _rounded(width: int, height: int, radius: int) -> Image.Image:
    size = (width * OVERSAMPLING, height * OVERSAMPLING)
    mask = Image.new("L", size, 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, size[0] - 1, size[1] - 1), radius * OVERSAMPLING, fill=255)
    return mask.resize((width, height), Image.Resampling.BOX)


@lru_cache(maxsize=2048)
def _ring(width: int, height: int, radius: int, thickness: int) -> Image.Image:
    size = (width * OVERSAMPLING, height * OVERSAMPLING)
    mask = Image.new("L", size, 0)
    line = thickness * OVERSAMPLING
    box = (0, 0, size[0] - 1, size[1] - 1)
    ImageDraw.Draw(mask).rounded_rectangle(box, radius * OVERSAMPLING, outline=255, width=line)
    return mask.resize((width, height), Image.Resampling.BOX)


class Painter:
    """Paints one scene. `scale` multiplies every length: 1 for the policy, 3 for people."""

    def __init__(self, scale: int = 1) -> None:
        self.scale = scale
        self.image = Image.new("RGB", (WIDTH * scale, HEIGHT * scale))
        self._origin = (0, 0)
        self._whole = self.image

    def paint(self, ops: Iterable[Op]) -> Image.Image:
        for op in ops:
            getattr(self, f"_{op[0]}")(*op[1:])
        return self.image

    def _at(self, x: int, y: int) -> tuple[int, int]:
        return x * self.scale - self._origin[0], y * self.scale - self._origin[1]

    def _size(self, box: Box) -> tuple[int, int]:
        return (box[2] - box[0]) * self.scale, (box[3] - box[1]) * self.scale

    def _fill(self, box: Box, colour: tuple[int, int, int]) -> None:
        self.image.paste(colour, (*self._at(box[0], box[1]), *self._at(box[2], box[3])))

    def _rounded(self, box: Box, radius: int, colour: tuple[int, int, int]) -> None:
        width, height = self._size(box)
        if width > 0 and height > 0:
            self.image.paste(colour, self._at(box[0], box[1]), _rounded(width, height, radius * self.scale))

    def _ring(self, box: Box, radius: int, thickness: int, colour: tuple[int, int, int]) -> None:
        mask = _ring(*self._size(box), radius * self.scale, thickness * self.scale)
        self.image.paste(colour, self._at(box[0], box[1]), mask)

    def _picture(self, box: Box, name: str, radius: int) -> None:
        size = self._size(box)
        mask = _rounded(*size, radius * self.scale)
        self.image.paste(pictures.picture(name, *size), self._at(box[0], box[1]), mask)

    def _glyph(self, x: int, y: int, size: int, name: str, colour: tuple[int, int, int]) -> None:
        self.image.paste(colour, self._at(x, y), glyphs.mask(name, size * self.scale))

    def _text(self, x: int, y: int, text: str, face: lettering.Face, colour: tuple[int, int, int]) -> None:
        self.image.paste(colour, self._at(x, y), lettering.bitmap(text, face, self.scale))

    def _wallpaper(self, index: int, dimmed: bool) -> None:
        self.image.paste(pictures.wallpaper(index, WIDTH * self.scale, HEIGHT * self.scale, dimmed), (0, 0))

    def _dim(self, share: float) -> None:
        self.image.paste(self.image.point(_dimming(share)), (0, 0))

    def _clip(self, box: Box) -> None:
        """Draw into a cut-out until `unclip` puts it back: what overflows it is lost."""
        corners = (*self._at(box[0], box[1]), *self._at(box[2], box[3]))
        self._origin = (corners[0], corners[1])
        self._whole, self.image = self.image, self.image.crop(corners)

    def _unclip(self) -> None:
        self._whole.paste(self.image, self._origin)
        self.image, self._origin = self._whole, (0, 0)


@lru_cache(maxsize=8)
def _dimming(share: float) -> list[int]:
    return [round(value * (1 - share)) for value in range(256)] * 3
