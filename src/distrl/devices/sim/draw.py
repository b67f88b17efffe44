"""Scene → picture. Every shape, letter line and icon is drawn once as a mask and pasted from then on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from PIL import Image, ImageDraw

from distrl.devices.sim import glyphs, lettering, pictures
from distrl.devices.sim.lettering import Face
from distrl.devices.sim.scene import HEIGHT, WIDTH, Box, Op
from distrl.devices.sim.theme import Colour

OVERSAMPLING = 4


@lru_cache(maxsize=2048)
def rounded_mask(width: int, height: int, radius: int) -> Image.Image:
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
        self._left = self._top = 0
        self._whole = self.image
        self._brushes: dict[str, Callable[..., None]] = {
            "fill": self._fill,
            "rounded": self._rounded,
            "ring": self._ring,
            "picture": self._picture,
            "glyph": self._glyph,
            "text": self._text,
            "wallpaper": self._wallpaper,
            "dim": self._dim,
            "clip": self._clip,
            "unclip": self._unclip,
        }

    def paint(self, ops: Iterable[Op]) -> Image.Image:
        for name, *arguments in ops:
            self._brushes[name](*arguments)
        return self.image

    def _stamp(self, what: Colour | Image.Image, x: int, y: int, mask: Image.Image) -> None:
        """Paste through a mask. Pillow's own `paste` checks more and takes twice as long."""
        x, y = x * self.scale - self._left, y * self.scale - self._top
        source = what.im if isinstance(what, Image.Image) else what
        self.image.im.paste(source, (x, y, x + mask.width, y + mask.height), mask.im)

    def _corners(self, box: Box) -> Box:
        s, left, top = self.scale, self._left, self._top
        return box[0] * s - left, box[1] * s - top, box[2] * s - left, box[3] * s - top

    def _size(self, box: Box) -> tuple[int, int]:
        return (box[2] - box[0]) * self.scale, (box[3] - box[1]) * self.scale

    def _fill(self, box: Box, colour: Colour) -> None:
        self.image.im.paste(colour, self._corners(box))

    def _rounded(self, box: Box, radius: int, colour: Colour) -> None:
        width, height = self._size(box)
        if width > 0 and height > 0:
            self._stamp(colour, box[0], box[1], rounded_mask(width, height, radius * self.scale))

    def _ring(self, box: Box, radius: int, thickness: int, colour: Colour) -> None:
        mask = _ring(*self._size(box), radius * self.scale, thickness * self.scale)
        self._stamp(colour, box[0], box[1], mask)

    def _picture(self, box: Box, name: str, radius: int) -> None:
        size = self._size(box)
        self._stamp(pictures.picture(name, *size), box[0], box[1], rounded_mask(*size, radius * self.scale))

    def _glyph(self, x: int, y: int, size: int, name: str, colour: Colour) -> None:
        self._stamp(colour, x, y, glyphs.mask(name, size * self.scale))

    def _text(self, x: int, y: int, text: str, face: Face, colour: Colour, align: str) -> None:
        mask = lettering.bitmap(text, face, self.scale)
        if self.scale > 1 and align != "left":  # enlarged letters take a little less room than was planned
            spare = lettering.width(text, face) + 2 - mask.width // self.scale
            x += spare if align == "right" else spare // 2
        self._stamp(colour, x, y, mask)

    def _wallpaper(self, index: int, dimmed: bool) -> None:
        self.image.paste(pictures.wallpaper(index, WIDTH * self.scale, HEIGHT * self.scale, dimmed), (0, 0))

    def _dim(self, share: float) -> None:
        self.image.paste(self.image.point(_dimming(share)), (0, 0))

    def _clip(self, box: Box) -> None:
        """Draw into a cut-out until `unclip` puts it back: what overflows it is lost."""
        corners = self._corners(box)
        self._whole, self.image = self.image, self.image.crop(corners)
        self._left, self._top = corners[0], corners[1]

    def _unclip(self) -> None:
        self._whole.paste(self.image, (self._left, self._top))
        self.image, self._left, self._top = self._whole, 0, 0


@lru_cache(maxsize=8)
def _dimming(share: float) -> list[int]:
    return [round(value * (1 - share)) for value in range(256)] * 3
