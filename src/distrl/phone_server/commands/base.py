"""What a program of the phone gets from its shell, and the type of all programs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from distrl.phone_server.phone import ServedPhone


@dataclass(slots=True)
class Call:
    """One call of a program: its arguments, input and output."""

    name: str
    args: list[str]
    stdin: bytes = b""
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)

    def say(self, text: str) -> None:
        self.out += f"{text}\n".encode(errors="surrogateescape")

    def write_error(self, text: str) -> None:
        self.err += f"{text}\n".encode(errors="surrogateescape")

    def fail(self, text: str, status: int = 1) -> int:
        self.write_error(text)
        return status

    def take_flags(self) -> str:
        """The letters of leading `-x` arguments, which are taken out."""
        letters = ""
        while self.args and self.args[0].startswith("-") and len(self.args[0]) > 1:
            letters += self.args.pop(0)[1:]
        return letters


Command = Callable[[ServedPhone, Call], Awaitable[int]]
"""Runs one program and returns its exit status."""
