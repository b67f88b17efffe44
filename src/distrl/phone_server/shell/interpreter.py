"""Runs command lines: `;` `&&` `||` `|`, `( )`, redirection, `$?` and variables; programs come from `commands`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile

from distrl.phone_server.commands import COMMANDS, NEEDS_SYSTEM
from distrl.phone_server.commands.base import Call
from distrl.phone_server.files import FileProblem
from distrl.phone_server.phone import ServedPhone
from distrl.phone_server.shell.lexer import SyntaxProblem, Token, Word, split

NOT_FOUND = 127
NO_SERVICE = 20
WRONG_SYNTAX = 2
DEV_NULL = "/dev/null"
CACHED_LINES = 64

Sink = Callable[[bytes, bytes], Awaitable[None]]
"""Takes what was written to standard output and to standard error."""


@dataclass(slots=True)
class Stage:
    """One program of a pipeline: its words, or a line in brackets, and where its input and output go."""

    words: list[Word] = field(default_factory=list)
    redirections: list[tuple[str, Word | None]] = field(default_factory=list)
    inner: Pipelines | None = None
    """A subshell: its variables do not leave it."""

    @property
    def empty(self) -> bool:
        return not self.words and self.inner is None


Pipelines = list[tuple[str, list[Stage]]]
"""Each with the operator before it."""


class Interpreter:
    """One shell. Its variables and exit status live as long as it does."""

    def __init__(self, phone: ServedPhone, sink: Sink) -> None:
        self.phone = phone
        self.status = 0
        self._sink = sink
        self._variables: dict[str, str] = {}

    async def run(self, line: str) -> int:
        """Run a line and return the exit status of its last command."""
        try:
            pipelines = _parse(line)
        except SyntaxProblem as problem:
            await self._sink(b"", f"/system/bin/sh: syntax error: {problem}\n".encode())
            self.status = WRONG_SYNTAX
            return self.status
        return await self._run(pipelines)

    async def _run(self, pipelines: Pipelines) -> int:
        for operator, stages in pipelines:
            if (operator == "&&" and self.status != 0) or (operator == "||" and self.status == 0):
                continue
            await self._pipeline(stages)
        return self.status

    async def _pipeline(self, stages: list[Stage]) -> None:
        stdin, errors = b"", b""
        for stage in stages:
            call = await self._stage(stage, stdin)
            stdin, errors = bytes(call.out), errors + bytes(call.err)
        await self._sink(stdin, errors)

    async def _stage(self, stage: Stage, stdin: bytes) -> Call:
        known = self._variables | {"?": str(self.status)}
        assignments = list(takewhile(lambda word: word.assigns, stage.words))
        for word in assignments:
            name, _, self._variables[name] = word.value(known).partition("=")
        words = [word.value(known) for word in stage.words[len(assignments) :]]
        call = Call(words[0] if words else "", words[1:], stdin)
        try:
            self._redirect_input(stage, call)
            self.status = await (self._program(call) if stage.inner is None else self._subshell(stage.inner, call))
            self._redirect_output(stage, call)
        except FileProblem as problem:
            call.write_error(f"/system/bin/sh: {problem}")
            self.status = 1
        return call

    async def _subshell(self, pipelines: Pipelines, call: Call) -> int:
        """Run in a subshell, whose programs do not read this shell's input."""

        async def gather(out: bytes, err: bytes) -> None:
            call.out += out
            call.err += err

        shell = Interpreter(self.phone, gather)
        shell.status, shell._variables = self.status, dict(self._variables)
        return await shell._run(pipelines)

    async def _program(self, call: Call) -> int:
        name = call.name.rpartition("/")[2]
        if not name:
            return 0
        if name == "toybox" and call.args:
            call.name, call.args = call.args[0], call.args[1:]
            return await self._program(call)
        if name not in COMMANDS:
            call.write_error(f"/system/bin/sh: {call.name}: inaccessible or not found")
            return NOT_FOUND
        if name in NEEDS_SYSTEM and not self.phone.power.ready:
            call.write_error(f"cmd: Can't find service: {NEEDS_SYSTEM[name]}")
            return NO_SERVICE
        return await COMMANDS[name](self.phone, call)

    def _redirect_input(self, stage: Stage, call: Call) -> None:
        for sign, word in stage.redirections:
            if sign == "<" and word is not None:
                path = word.value(self._variables)
                call.stdin = b"" if path == DEV_NULL else self.phone.files.read(path)

    def _redirect_output(self, stage: Stage, call: Call) -> None:
        for sign, word in stage.redirections:
            if sign == "2>&1":
                call.out += call.err
                call.err.clear()
            elif sign == ">&2":
                call.err += call.out
                call.out.clear()
            elif word is not None and sign != "<":
                taken = call.err if sign.startswith("2") else call.out
                path, data = word.value(self._variables), bytes(taken)
                taken.clear()
                if path == DEV_NULL:
                    continue
                if sign.endswith(">>") and self.phone.files.find(path) is not None:
                    data = self.phone.files.read(path) + data
                self.phone.files.write(path, data, int(self.phone.power.now))


@lru_cache(maxsize=CACHED_LINES)
def _parse(line: str) -> Pipelines:
    """Cached, since clients repeat their commands; callers must not change the result."""
    tokens = split(line)
    found = _pipelines(tokens)
    if tokens:
        raise SyntaxProblem(f"unexpected {tokens[0]!r}")
    return found


def _pipelines(tokens: list[Token]) -> Pipelines:
    """Consumes tokens up to the end, or up to a closing bracket of the caller."""
    found: Pipelines = [(";", [Stage()])]
    while tokens and tokens[0] != ")":
        token = tokens.pop(0)
        stage = found[-1][1][-1]
        if token == "(" and stage.empty:
            stage.inner = _bracketed(tokens)
        elif isinstance(token, Word) and stage.inner is None:
            stage.words.append(token)
        elif token in ("2>&1", ">&2"):
            stage.redirections.append((str(token), None))
        elif token in (">", ">>", "<", "2>", "2>>"):
            target = tokens.pop(0) if tokens else None
            if not isinstance(target, Word):
                raise SyntaxProblem(f"unexpected {token!r}")
            stage.redirections.append((str(token), target))
        elif token == "|":
            found[-1][1].append(Stage())
        elif token in ("&&", "||", ";", "\n"):
            found.append((";" if token == "\n" else str(token), [Stage()]))
        else:
            raise SyntaxProblem(f"unexpected {'word' if isinstance(token, Word) else token!r}")
    for operator, stages in found:
        _check(operator, stages)
    return [(operator, stages) for operator, stages in found if not stages[0].empty]


def _bracketed(tokens: list[Token]) -> Pipelines:
    inner = _pipelines(tokens)
    if not tokens:
        raise SyntaxProblem("no closing bracket")
    tokens.pop(0)
    if not inner:
        raise SyntaxProblem("unexpected ')'")
    return inner


def _check(operator: str, stages: list[Stage]) -> None:
    empty = [stage.empty for stage in stages]
    if any(empty) and (operator != ";" or len(stages) > 1):
        raise SyntaxProblem(f"unexpected {'|' if len(stages) > 1 else operator!r}")
