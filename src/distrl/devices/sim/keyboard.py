"""The on-screen keyboard: letters, space, backspace and enter; above the system navigation."""

from __future__ import annotations

from distrl.devices.sim.bars import NAVIGATION_TOP
from distrl.devices.sim.lettering import Face
from distrl.devices.sim.scene import WIDTH, Box, Look, Scene
from distrl.devices.sim.theme import Colour, mix

LINES = ("1234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm")
LINE_HEIGHT = 28
TOP = NAVIGATION_TOP - 5 * LINE_HEIGHT - 6
LETTER = Face("Medium", 13)
SMALL = Face("Medium", 11)


def place_keyboard(scene: Scene, look: Look) -> None:
    palette = look.palette
    scene.fill((0, TOP, WIDTH, NAVIGATION_TOP), palette.field)
    scene.fill((0, TOP, WIDTH, TOP + 1), palette.outline)
    face = mix(palette.surface, palette.text, 0.04)
    for row, letters in enumerate(LINES):
        indent = (WIDTH - len(letters) * 19) // 2
        for index, letter in enumerate(letters):
            left = indent + index * 19
            _key(scene, (left, TOP + 4 + row * LINE_HEIGHT), 19, letter, letter, face, palette.text)
    line = TOP + 4 + 3 * LINE_HEIGHT
    _key(scene, (163, line), 28, "Backspace", "", face, palette.text)
    scene.glyph(177, line + LINE_HEIGHT // 2, 16, "backspace", palette.text)
    line += LINE_HEIGHT
    for left, letter in ((2, ","), (128, ".")):
        _key(scene, (left, line), 24, letter, letter, face, palette.text)
    _key(scene, (26, line), 102, "Space", "space", face, palette.text)
    _key(scene, (152, line), 38, "Enter", "", palette.accent, palette.on_accent)
    scene.glyph(171, line + LINE_HEIGHT // 2, 16, "enter", palette.on_accent)


def _key(scene: Scene, at: tuple[int, int], width: int, name: str, drawn: str, back: Colour, ink: Colour) -> None:
    left, top = at
    box: Box = (left, top, left + width, top + LINE_HEIGHT)
    scene.rounded((left + 1, top + 2, left + width - 1, top + LINE_HEIGHT - 2), 5, back)
    letters = LETTER if len(drawn) == 1 else SMALL
    middle = left + width // 2
    if drawn:
        scene.text(middle, top + (LINE_HEIGHT - letters.line) // 2, drawn, letters, ink, "centre")
    else:
        scene.say(name, middle, top + LINE_HEIGHT // 2)
    scene.element(box, name, "key", ("@key", name))
