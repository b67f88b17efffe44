"""Splits a command line into words and operators with POSIX quoting; unsupported syntax raises `SyntaxProblem`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from distrl.errors import DeviceError

OPERATORS = ("&&", "||", "2>&1", ">&2", "2>>", "2>", ">>", ">", "<", "|", ";", "\n", "(", ")")
REFUSED = {"`": "command substitution", "&": "background jobs"}
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+)|(\?))")


class SyntaxProblem(DeviceError):
    """The shell cannot parse the line; none of it is run."""


@dataclass(slots=True)
class Word:
    """A word in pieces; variables in some of them are expanded when the command runs."""

    pieces: list[tuple[str, bool]] = field(default_factory=list)
    bare: str = ""
    """The text before the first quote, escape or variable."""

    def add(self, text: str, *, expands: bool = False) -> None:
        self.pieces.append((text, expands))

    @property
    def assigns(self) -> bool:
        """Whether it is `NAME=value` with an unquoted name."""
        return ASSIGNMENT.match(self.bare) is not None

    def value(self, variables: dict[str, str]) -> str:
        def look_up(match: re.Match[str]) -> str:
            return variables.get(match[1] or match[2] or match[3], "")

        return "".join(VARIABLE.sub(look_up, text) if expands else text for text, expands in self.pieces)


Token = Word | str
"""A word, or an operator."""


def split(line: str) -> list[Token]:
    """Raises `SyntaxProblem` for an open quote and unsupported syntax."""
    return _Lexer(line).tokens()


class _Lexer:
    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0

    def tokens(self) -> list[Token]:
        found: list[Token] = []
        while True:
            while self.at < len(self.line) and self.line[self.at] in " \t\r":
                self.at += 1
            if self.at >= len(self.line):
                return found
            if self.line[self.at] == "#":
                end = self.line.find("\n", self.at)
                self.at = len(self.line) if end < 0 else end
                continue
            operator = next((sign for sign in OPERATORS if self.line.startswith(sign, self.at)), "")
            if operator:
                self.at += len(operator)
                found.append(operator)
            else:
                found.append(self._word())

    def _word(self) -> Word:
        word = Word()
        while self.at < len(self.line) and self.line[self.at] not in " \t\r\n;|<>&()":
            character = self.line[self.at]
            self._refuse(character)
            self.at += 1
            if character == "'":
                word.add(self._until_quote())
            elif character == '"':
                self._double_quoted(word)
            elif character == "\\":
                word.add(self.line[self.at : self.at + 1].replace("\n", ""))
                self.at += 1
            elif character == "$":
                word.add(self._dollar(), expands=True)
            else:
                if len(word.bare) == len(word.pieces):
                    word.bare += character
                word.add(character)
        if not word.pieces:
            self._refuse(self.line[self.at])
        return word

    def _until_quote(self) -> str:
        end = self.line.find("'", self.at)
        if end < 0:
            raise SyntaxProblem("no closing quote")
        text, self.at = self.line[self.at : end], end + 1
        return text

    def _double_quoted(self, word: Word) -> None:
        word.add("")
        while self.at < len(self.line):
            character = self.line[self.at]
            self.at += 1
            if character == '"':
                return
            if character == "\\" and self.line[self.at : self.at + 1] in ("$", "`", '"', "\\", "\n"):
                word.add(self.line[self.at].replace("\n", ""))
                self.at += 1
            elif character == "$":
                word.add(self._dollar(), expands=True)
            elif character == "`":
                self._refuse(character)
            else:
                word.add(character)
        raise SyntaxProblem("no closing quote")

    def _dollar(self) -> str:
        """A variable as written, with its dollar sign; or a literal dollar sign."""
        if self.line.startswith("(", self.at):
            raise SyntaxProblem("command substitution is not part of this shell")
        match = VARIABLE.match(self.line, self.at - 1)
        if match is None:
            return "$"
        self.at = match.end()
        return match[0]

    def _refuse(self, character: str) -> None:
        if character in REFUSED:
            raise SyntaxProblem(f"{REFUSED[character]} are not part of this shell")
