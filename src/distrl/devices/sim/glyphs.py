"""Icons as short drawings on a 24×24 grid.

A drawing is a list of strokes separated by `;`: `l` line through points, `p` filled polygon, `c` disc (x y r),
`o` ring (x y r), `r` filled box (x0 y0 x1 y1 radius), `b` outlined box (same), `a` arc (x0 y0 x1 y1 from to, degrees).
A leading `-` cuts the shape out of what was drawn before. A name without a drawing gets its first letter.
"""

from __future__ import annotations

from functools import lru_cache

from PIL import Image, ImageDraw

from distrl.devices.sim.lettering import font

GRID = 24
OVERSAMPLING = 4
STROKE = 2.4

GLYPHS = {
    "back": "l 20 12 5 12; l 11 5 4 12 11 19",
    "home": "p 12 3 2 12 5 12 5 21 19 21 19 12 22 12; -r 10 14 14 21 0",
    "menu": "l 3 6 21 6; l 3 12 21 12; l 3 18 21 18",
    "more": "c 12 5 2.3; c 12 12 2.3; c 12 19 2.3",
    "search": "o 10 10 6.5; l 15 15 21 21",
    "add": "l 12 4 12 20; l 4 12 20 12",
    "minus": "l 4 12 20 12",
    "close": "l 5 5 19 19; l 19 5 5 19",
    "check": "l 4 13 10 19 21 6",
    "delete": "r 6 8 18 22 2; l 4 6 20 6; l 9 3 15 3; -l 10 12 10 18; -l 14 12 14 18",
    "edit": "p 4 20 4 16 15 5 19 9 8 20; p 16.5 3.5 18.5 2 22 5.5 20.5 7.5",
    "send": "p 2 3 22 12 2 21 2 14 14 12 2 10",
    "mic": "r 8.5 2 15.5 14 3.5; a 5 6 19 18 0 180; l 12 18 12 22",
    "settings": "c 12 12 7; l 12 2 12 22; l 2 12 22 12; l 5 5 19 19; l 19 5 5 19; -c 12 12 3.4",
    "wifi": "a 1 5 23 27 220 320; a 5 10 19 24 220 320; c 12 19 2.2",
    "bluetooth": "l 6 7 17 17 12 21 12 3 17 7 6 17",
    "battery": "b 3 7 19 17 2; r 5 9 15 15 0; r 20 10 22 14 0",
    "bell": "p 12 3 7 6 6 11 6 15 4 18 20 18 18 15 18 11 17 6; c 12 20.5 2.2; c 12 3 1.6",
    "sun": "c 12 12 5; l 12 1.5 12 4; l 12 20 12 22.5; l 1.5 12 4 12; l 20 12 22.5 12; l 4.5 4.5 6.2 6.2;"
    "l 17.8 17.8 19.5 19.5; l 4.5 19.5 6.2 17.8; l 17.8 6.2 19.5 4.5",
    "moon": "c 12 12 9; -c 16.5 8.5 8",
    "volume": "p 3 9 7 9 13 4 13 20 7 15 3 15; a 10 7 19 17 300 60; a 8 3 23 21 305 55",
    "clock": "o 12 12 9; l 12 6.5 12 12 16 14.5",
    "alarm": "o 12 13 8; l 12 8.5 12 13 15 15; l 3 6 7 2.5; l 21 6 17 2.5",
    "timer": "o 12 14 8; l 12 9.5 12 14; l 9 2.5 15 2.5; l 12 3 12 6",
    "stopwatch": "o 12 14 8; l 12 9.5 12 14 15 14; l 9 2.5 15 2.5; l 19 5 20.5 6.5",
    "person": "c 12 8 4.6; p 3 21 4 16.5 8 14.5 16 14.5 20 16.5 21 21",
    "contacts": "r 4 3 21 21 2.5; -c 12.5 9.5 3; -p 7 18 8 14.8 17 14.8 18 18; l 2 8 5 8; l 2 16 5 16",
    "people": "c 8.5 8.5 3.8; p 1.5 20 2.5 15.5 14.5 15.5 15.5 20; c 16.5 8 3; p 17 20 16.5 13 21 14.5 22.5 20",
    "message": "r 2 3 22 17 3; p 5 16 5 22 11 16; -l 7 8 17 8; -l 7 12 14 12",
    "mail": "r 2 5 22 19 2; -l 4 8 12 13.5 20 8",
    "calendar": "r 3 4 21 21 2; l 8 2 8 6; l 16 2 16 6; -r 5 9.5 19 19 0; r 8 12 12 16 0",
    "note": "p 5 2 15 2 20 7 20 22 5 22; -l 8.5 12 16 12; -l 8.5 16.5 16 16.5; -l 14 3 14 8 19 8",
    "store": "p 4 8 20 8 21.5 22 2.5 22; a 8 2 16 12 180 360; -l 8.5 11 8.5 13; -l 15.5 11 15.5 13",
    "globe": "o 12 12 9; a 8 3 16 21 0 360; l 3 12 21 12",
    "cart": "l 1.5 3.5 5 3.5 8 15.5 18 15.5; p 6 6 22 6 19.5 13.5 8 13.5; c 9.5 19.5 2; c 17 19.5 2",
    "star": "p 12 1.8 15 8.8 22.5 9.4 16.8 14.4 18.6 21.8 12 17.8 5.4 21.8 7.2 14.4 1.5 9.4 9 8.8",
    "star outline": "p 12 1.8 15 8.8 22.5 9.4 16.8 14.4 18.6 21.8 12 17.8 5.4 21.8 7.2 14.4 1.5 9.4 9 8.8; "
    "-p 12 5.9 13.9 10.2 18.5 10.6 15 13.7 16.1 18.3 12 15.8 7.9 18.3 9 13.7 5.5 10.6 10.1 10.2",
    "thumbtack": "p 8 2 16 2 15 10 19 14.5 5 14.5 9 10; l 12 14 12 22",
    "thumbtack off": "p 8 2 16 2 15 10 19 14.5 5 14.5 9 10; l 12 14 12 22; -l 2 5 20 23; l 4 3 22 21",
    "bell off": "p 12 3 7 6 6 11 6 15 4 18 20 18 18 15 18 11 17 6; c 12 20.5 2.2; c 12 3 1.6; -l 2 5 20 23; "
    "l 4 3 22 21",
    "heart": "c 7.3 8.5 5; c 16.7 8.5 5; p 2.9 11 12 21.5 21.1 11 12 8",
    "filter": "p 2 4 22 4 14.5 13 14.5 21 9.5 18 9.5 13",
    "sort": "l 3 6 21 6; l 3 12 15 12; l 3 18 9 18",
    "play": "p 6 3 21 12 6 21",
    "pause": "r 5 4 10 20 1; r 14 4 19 20 1",
    "next": "p 4 4 16 12 4 20; r 17 4 20 20 0",
    "previous": "p 20 4 8 12 20 20; r 4 4 7 20 0",
    "music": "c 7 18 3.4; c 17.5 16 3.4; l 9.3 18 9.3 5 19.8 3 19.8 16",
    "cloud": "c 8 14 5; c 14 11 6.2; c 18 14.5 4.2; r 7 14 18 19 2",
    "rain": "c 8 10 4.4; c 14 7.5 5.2; c 18 10.5 3.6; r 7 10 18 14 2; l 8 17 7 21; l 13 17 12 21; l 18 17 17 21",
    "snow": "l 12 2.5 12 21.5; l 3.8 7.2 20.2 16.8; l 20.2 7.2 3.8 16.8; l 9 4 12 7 15 4; l 9 20 12 17 15 20",
    "storm": "c 8 9 4.4; c 14 6.5 5.2; c 18 9.5 3.6; r 7 9 18 13 2; p 12 12 8 18 11 18 10 23 16 16 13 16 15 12",
    "wind": "l 2 9 14 9; a 11 3 17 9 180 90; l 2 13 19 13; l 2 17 12 17; a 9 17 15 22 270 160",
    "fog": "l 3 7 21 7; l 5 12 19 12; l 3 17 21 17",
    "map": "p 2 5 8 3 8 19 2 21; p 9.5 3 15 5.5 15 21.5 9.5 19; p 16.5 5.5 22 3 22 19 16.5 21.5",
    "pin": "c 12 9 6.8; p 5.6 11.5 12 22.5 18.4 11.5; -c 12 9 2.6",
    "phone": "p 3 4 8 3 10 8.5 7.5 10.5 13.5 16.5 15.5 14 21 16 20 21 16 21.5 8 17 4 10",
    "camera": "r 2 6.5 22 20 2.5; p 8 7 9.5 3.5 14.5 3.5 16 7; -c 12 13 4.6; c 12 13 2.6",
    "lock": "r 5 10 19 22 2; a 7.5 2.5 16.5 15 180 360; -c 12 16 2",
    "download": "l 12 3 12 15; l 6.5 10 12 15.5 17.5 10; l 4 21 20 21",
    "upload": "l 12 16 12 4; l 6.5 9 12 3.5 17.5 9; l 4 21 20 21",
    "share": "c 6 12 3; c 18 5.5 3; c 18 18.5 3; l 6 12 18 5.5; l 6 12 18 18.5",
    "folder": "p 2 5 9 5 11.5 8 22 8 22 20 2 20",
    "image": "b 3 4 21 20 2; p 5 18 10 11 13.5 15 16 12.5 19.5 18; c 15.5 8.5 1.8",
    "incognito": "p 7 4 17 4 18.5 10 5.5 10; l 2 11 22 11; o 7.5 16.5 3; o 16.5 16.5 3; l 10.5 16 13.5 16",
    "tab": "b 3 5 21 20 2; r 3 5 12 10 1",
    "refresh": "a 4 4 20 20 30 310; p 21.5 3 21.5 11 14 9.5",
    "backspace": "p 8 5 22 5 22 19 8 19 1.5 12; -l 11.5 9 17.5 15; -l 17.5 9 11.5 15",
    "enter": "l 20 5 20 13 5 13; l 10 8 4.5 13 10 18",
    "system back": "p 18 3 18 21 4 12",
    "system home": "o 12 12 8.5",
    "recents": "b 4 4 20 20 2",
    "forward": "l 4 12 19 12; l 13 5 20 12 13 19",
    "up": "l 5 15 12 8 19 15",
    "down": "l 5 9 12 16 19 9",
    "right": "l 9 5 16 12 9 19",
    "left": "l 15 5 8 12 15 19",
    "info": "o 12 12 9; l 12 11 12 17; c 12 7.3 1.4",
    "warning": "p 12 2.5 22.5 21 1.5 21; -l 12 10 12 14.5; -c 12 17.8 1.3",
    "flag": "l 5 2.5 5 22; p 6 3.5 20 3.5 16.5 8.5 20 13.5 6 13.5",
    "list": "c 4 6 1.7; c 4 12 1.7; c 4 18 1.7; l 9 6 21 6; l 9 12 21 12; l 9 18 21 18",
    "grid": "r 3 3 10.5 10.5 1; r 13.5 3 21 10.5 1; r 3 13.5 10.5 21 1; r 13.5 13.5 21 21 1",
    "inbox": "p 3 4 21 4 22.5 14 22.5 20 1.5 20 1.5 14; -p 5.5 6.5 18.5 6.5 19.5 13 15.5 13 14 16 10 16 8.5 13 4.5 13",
    "archive": "r 2 4 22 9 1; r 4 10 20 21 1; -l 9.5 13.5 14.5 13.5",
    "attach": "a 7 2 17 12 180 360; l 7 7 7 16; a 7 11 17 22 0 180; l 17 7 17 16; l 12 8 12 16",
    "reply": "p 10 4 10 20 2 12; l 8 12 16 12 20 15 21 20",
    "airplane": "p 11 2 13 2 13.5 9 22 14 22 16 13.5 13.5 13 19 15.5 21 15.5 22 8.5 22 8.5 21 11 19 10.5 13.5"
    " 2 16 2 14 10.5 9",
    "brightness": "c 12 12 5; l 12 1.5 12 4; l 12 20 12 22.5; l 1.5 12 4 12; l 20 12 22.5 12; l 4.5 4.5 6.2 6.2;"
    "l 17.8 17.8 19.5 19.5; l 4.5 19.5 6.2 17.8; l 17.8 6.2 19.5 4.5",
    "display": "b 2 4 22 17 2; l 8 21 16 21",
    "storage": "r 3 4 21 10 1.5; r 3 13 21 19 1.5; -c 7 7 1.3; -c 7 16 1.3",
    "language": "o 12 12 9; a 8 3 16 21 0 360; l 3 12 21 12",
    "apps": "c 5 5 2.4; c 12 5 2.4; c 19 5 2.4; c 5 12 2.4; c 12 12 2.4; c 19 12 2.4; c 5 19 2.4; c 12 19 2.4;"
    "c 19 19 2.4",
    "calculator": "r 4 2 20 22 2; -r 7 5 17 9 0; -c 8.5 13 1.3; -c 12 13 1.3; -c 15.5 13 1.3; -c 8.5 17.5 1.3;"
    "-c 12 17.5 1.3; -c 15.5 17.5 1.3",
    "game": "r 2 7 22 18 5; -l 7 10 7 15; -l 4.5 12.5 9.5 12.5; -c 16 11 1.4; -c 18.5 14 1.4",
    "video": "r 2 5 16 19 2; p 17 12 22.5 7 22.5 17",
    "book": "r 4 2 20 22 2; -l 8 3 8 21; -l 11 8 17 8",
    "bag": "p 4 8 20 8 21.5 22 2.5 22; a 8 2 16 12 180 360",
    "briefcase": "r 2 7 22 20 2; b 8 3 16 8 1; -l 3 13 21 13",
    "help": "o 12 12 9; a 8.5 6.5 15.5 13 180 80; l 12 12.5 12 14; c 12 17.3 1.4",
    "eye": "p 1.5 12 6 7 12 5 18 7 22.5 12 18 17 12 19 6 17; -c 12 12 4; c 12 12 2",
    "power": "a 4 5 20 21 300 240; l 12 2 12 11",
    "thermometer": "r 9.5 2 14.5 16 2.5; c 12 18 4.2",
    "drop": "c 12 15 6.5; p 5.9 13 12 2 18.1 13",
    "leaf": "p 4 20 4 10 10 4 21 3 20 13 14 19 7 18; -l 8 16 16 8",
    "gift": "r 3 11 21 22 1; r 2 6.5 22 10 1; o 9 4.5 2; o 15 4.5 2; -l 12 7 12 21",
    "tag": "p 2 2 12 2 22 12 12 22 2 12; -c 7 7 1.8",
    "work": "r 2 7 22 20 2; b 8 3 16 8 1; -l 3 13 21 13",
    "shuffle": "l 3 7 8 7 15 17 20 17; l 3 17 8 17 15 7 20 7; p 19 3.5 23 7 19 10.5; p 19 13.5 23 17 19 20.5",
    "repeat": "l 4 12 4 7 18 7; p 17 3 22 7 17 11; l 20 12 20 17 6 17; p 7 13 2 17 7 21",
}


@lru_cache(maxsize=4096)
def mask(name: str, pixels: int) -> Image.Image:
    """The icon as a mask of pixels × pixels."""
    drawing = GLYPHS.get(name)
    size = pixels * OVERSAMPLING
    image = Image.new("L", (size, size), 0)
    pen = ImageDraw.Draw(image)
    if drawing is None:
        letter = name.strip()[:1].upper() or "?"
        pen.text((size / 2, size / 2), letter, fill=255, font=font("Bold", round(size * 0.9)), anchor="mm")
    else:
        for stroke in drawing.split(";"):
            _stroke(pen, stroke.split(), size / GRID)
    return image.resize((pixels, pixels), Image.Resampling.BOX)


def _stroke(pen: ImageDraw.ImageDraw, parts: list[str], unit: float) -> None:
    kind, ink = (parts[0][1:], 0) if parts[0].startswith("-") else (parts[0], 255)
    numbers = [float(part) * unit for part in parts[1:]]
    line = max(1, round(STROKE * unit))
    if kind in "lp":
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if kind == "p":
            pen.polygon(points, fill=ink)
            return
        pen.line(points, fill=ink, width=line, joint="curve")
        for x, y in (points[0], points[-1]):
            pen.ellipse((x - line / 2, y - line / 2, x + line / 2 - 1, y + line / 2 - 1), fill=ink)
    elif kind in "co":
        x, y, r = numbers
        box = (x - r, y - r, x + r - 1, y + r - 1)
        if kind == "c":
            pen.ellipse(box, fill=ink)
        else:
            pen.ellipse(box, outline=ink, width=line)
    elif kind in "rb":
        box = (numbers[0], numbers[1], numbers[2] - 1, numbers[3] - 1)
        if kind == "r":
            pen.rounded_rectangle(box, numbers[4], fill=ink)
        else:
            pen.rounded_rectangle(box, numbers[4], outline=ink, width=line)
    else:
        start, end = float(parts[5]), float(parts[6])
        pen.arc((numbers[0], numbers[1], numbers[2] - 1, numbers[3] - 1), start, end, fill=ink, width=line)
