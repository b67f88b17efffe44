"""The emulator's console: line commands, answers that end with `OK` or `KO`, authentication by token."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

TOKEN_FILE = ".emulator_console_auth_token"

Command = Callable[[list[str]], Awaitable[str]]
"""Takes the words after the command; returns the answer, with `OK` or `KO` as its last line."""


class Console:
    """Serves connections until it is closed."""

    def __init__(self, commands: dict[str, Command]) -> None:
        self._commands = commands
        self._token_file = Path.home() / TOKEN_FILE
        self._token = _token(self._token_file)
        self._server: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> None:
        self._server = await asyncio.start_server(self._on_connect, host, port)

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _on_connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await self._converse(reader, writer)
        writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        authenticated = not self._token
        writer.write(self._greeting(authenticated).encode())
        while line := await reader.readline():
            command, *words = line.decode(errors="replace").split() or [""]
            if command in ("quit", "exit"):
                return
            if command == "auth":
                authenticated = authenticated or secrets.compare_digest(" ".join(words), self._token)
                refusal = f"KO: authentication token does not match ~/{TOKEN_FILE}"
                answer = "Android Console: type 'help' for a list of commands\r\nOK" if authenticated else refusal
            elif not authenticated or command not in self._commands:
                answer = "KO: unknown command, try 'help'"
            else:
                answer = await self._commands[command](words)
            writer.write(f"{answer}\r\n".encode())
            await writer.drain()

    def _greeting(self, authenticated: bool) -> str:
        if authenticated:
            return "Android Console: type 'help' for a list of commands\r\nOK\r\n"
        return (
            "Android Console: Authentication required\r\n"
            "Android Console: type 'auth <auth_token>' to authenticate\r\n"
            f"Android Console: you can find your <auth_token> in \r\n'{self._token_file}'\r\nOK\r\n"
        )


def _token(path: Path) -> str:
    """The user's token, created if missing. With an empty file no authentication is needed."""
    with contextlib.suppress(FileExistsError):
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(12))
    return path.read_text(encoding="utf-8").strip()
