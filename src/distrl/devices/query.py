"""The query options of a device address, validated when they are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlsplit

from pydantic import ConfigDict

from distrl.errors import ConfigError, UnknownName

DOCUMENTED = ConfigDict(use_attribute_docstrings=True)
"""Of the classes of options: the string under each field is its documentation."""


class Query:
    """Options by name. Every accessor raises `ConfigError` for an invalid value."""

    def __init__(self, address: str, of: str, known: Sequence[str]) -> None:
        """`of`: what the options belong to, for error messages."""
        self.address = address
        self.given = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
        for key in self.given:
            if key not in known:
                raise UnknownName(f"option of {of}", key, known)

    def __contains__(self, key: str) -> bool:
        return key in self.given

    def text(self, key: str, default: str = "") -> str:
        return self.given.get(key, default)

    def choice(self, key: str, kind: str, of: Sequence[str]) -> str:
        """One of `of`; the first is the default."""
        if self.text(key, of[0]) not in of:
            raise UnknownName(kind, self.given[key], of)
        return self.text(key, of[0])

    def number(self, key: str, default: float, most: float, *, least: float = 0.0, unit: str = "") -> float:
        try:
            value = float(self.given.get(key, default))
        except ValueError:
            value = -1.0
        if not least <= value <= most:
            raise self._wrong(key, f"a number {f'of {unit} ' if unit else ''}from {least:g} to {most:g}")
        return value

    def seconds(self, key: str, default: float, most: float, *, least: float = 0.0) -> float:
        return self.number(key, default, most, least=least, unit="seconds")

    def whole(self, key: str, least: int, most: int) -> int | None:
        """None where it is not given."""
        text = self.given.get(key)
        if text is None:
            return None
        if not text.isdecimal() or not least <= int(text) <= most:
            raise self._wrong(key, f"a whole number from {least} to {most}")
        return int(text)

    def switch(self, key: str) -> bool:
        if self.text(key, "0") not in ("0", "1"):
            raise self._wrong(key, "0 or 1")
        return self.text(key) == "1"

    def listed(self, key: str) -> tuple[str, ...]:
        return tuple(item for item in self.text(key).split(",") if item)

    def word(self, key: str, default: str, pattern: re.Pattern[str]) -> str:
        if key in self.given and not pattern.fullmatch(self.given[key]):
            raise self._wrong(key, "a word that an emulator takes")
        return self.text(key, default)

    def _wrong(self, key: str, wanted: str) -> ConfigError:
        return ConfigError(f"{self.address}: {key}={self.given[key]!r} must be {wanted}.")
