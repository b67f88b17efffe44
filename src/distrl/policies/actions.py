"""The action language, parsed and formatted. One line of text is one action:

tap 500 120 · long_press 500 120 · swipe 500 700 500 300 · type "buy milk" · press back|home|enter · wait ·
done · answer "42" · impossible

Text is a JSON string, so commas, quotes, emoji and newlines are preserved. What does not parse is `Invalid`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from distrl.types import (
    COORDINATE_MAX,
    Action,
    Answer,
    Done,
    Impossible,
    Invalid,
    LongPress,
    Press,
    Swipe,
    Tap,
    Type,
    Wait,
)

_NUMBER = re.compile(r"\d{1,4}")


def format_action(action: Action) -> str:
    """The action as text. An `Invalid` returns the text it was parsed from."""
    match action:
        case Tap(x, y):
            return f"tap {x} {y}"
        case LongPress(x, y):
            return f"long_press {x} {y}"
        case Swipe(x, y, to_x, to_y):
            return f"swipe {x} {y} {to_x} {to_y}"
        case Type(text):
            return f"type {_quote(text)}"
        case Press(key):
            return f"press {key}"
        case Wait():
            return "wait"
        case Done():
            return "done"
        case Answer(text):
            return f"answer {_quote(text)}"
        case Impossible():
            return "impossible"
        case Invalid(text, _):
            return text


def parse(text: str) -> Action:
    """Never raises: text that is no action becomes `Invalid` with the reason."""
    verb, _, rest = text.strip().partition(" ")
    reader = _READERS.get(verb)
    if reader is None:
        return Invalid(text, f"no action is called {verb[:40]!r}")
    try:
        return reader(rest.strip())
    except ValueError as error:
        return Invalid(text, str(error))


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _coordinates(rest: str, count: int) -> list[int]:
    words = rest.split()
    if len(words) != count or not all(_NUMBER.fullmatch(word) for word in words):
        raise ValueError(f"expected {count} whole numbers, got {rest[:40]!r}")
    numbers = [int(word) for word in words]
    if max(numbers) > COORDINATE_MAX:
        raise ValueError(f"coordinates go from 0 to {COORDINATE_MAX}, got {max(numbers)}")
    return numbers


def _text(rest: str) -> str:
    try:
        # strict=False accepts raw control characters: models write raw newlines.
        value = json.JSONDecoder(strict=False).decode(rest)
    except json.JSONDecodeError as error:
        raise ValueError(f"expected text in double quotes, got {rest[:40]!r}") from error
    if not isinstance(value, str):
        raise ValueError(f"expected text in double quotes, got {rest[:40]!r}")
    return value


def _key(rest: str) -> Action:
    match rest:
        case "back" | "home" | "enter":
            return Press(rest)
        case _:
            raise ValueError(f"no key is called {rest[:40]!r}")


def _without_argument(action: Action) -> Callable[[str], Action]:
    def read(rest: str) -> Action:
        if rest:
            raise ValueError(f"nothing may follow this action, got {rest[:40]!r}")
        return action

    return read


_READERS: dict[str, Callable[[str], Action]] = {
    "tap": lambda rest: Tap(*_coordinates(rest, 2)),
    "long_press": lambda rest: LongPress(*_coordinates(rest, 2)),
    "swipe": lambda rest: Swipe(*_coordinates(rest, 4)),
    "type": lambda rest: Type(_text(rest)),
    "press": _key,
    "wait": _without_argument(Wait()),
    "done": _without_argument(Done()),
    "answer": lambda rest: Answer(_text(rest)),
    "impossible": _without_argument(Impossible()),
}
