"""`shell:`, `shell,v2:` and `exec:`: a command line runs, its output comes back; without one, a prompt."""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable

from distrl.phone_server.phone import ServedPhone
from distrl.phone_server.shell.interpreter import Interpreter
from distrl.phone_server.wire.stream import Stream, StreamClosed

STDIN, STDOUT, STDERR, EXIT, CLOSE_STDIN = 0, 1, 2, 3, 4
PACKET = struct.Struct("<BI")
PROMPT = b"distrl:/ $ "
END_OF_INPUT = 4
"""Ctrl-D."""
INTERRUPT = 3
ERASE = (8, 127)


InjectFaults = Callable[[], Awaitable[bool]]
"""Injects the faults drawn for a command; whether the command is still to be run."""


async def serve_shell(phone: ServedPhone, service: str, stream: Stream) -> None:
    """`service` is `shell[,v2][,pty|raw][,TERM=…]:command`, or `exec:command`."""
    head, _, line = service.partition(":")
    options = head.split(",")
    await stream.accept()
    terminal = Terminal(stream, framed="v2" in options, echo="pty" in options)
    shell = Interpreter(phone, terminal.write)
    await shell.run(line)
    await terminal.exit(shell.status)


async def serve_prompt(phone: ServedPhone, service: str, stream: Stream, inject_faults: InjectFaults) -> None:
    """The same without a command: an interactive shell that runs each line."""
    options = service.partition(":")[0].split(",")
    await stream.accept()
    terminal = Terminal(stream, framed="v2" in options, echo="raw" not in options)
    shell = Interpreter(phone, terminal.write)
    while True:
        if terminal.echo:
            await terminal.write(PROMPT, b"")
        try:
            line = await terminal.read_line()
        except StreamClosed:
            break
        if line.strip() == "exit":
            break
        if not await inject_faults():
            return
        await shell.run(line)
    await terminal.exit(shell.status)


class Terminal:
    """Input and output of a shell. `framed`: in packets of the v2 protocol, with separate stderr and exit status."""

    def __init__(self, stream: Stream, *, framed: bool, echo: bool) -> None:
        self.echo = echo
        self._stream = stream
        self._framed = framed
        self._typed = b""
        self._over = False

    async def write(self, out: bytes, err: bytes) -> None:
        if self.echo:
            out, err = out.replace(b"\n", b"\r\n"), err.replace(b"\n", b"\r\n")
        if self._framed:
            framed = (PACKET.pack(STDOUT, len(out)) + out if out else b"") + (
                PACKET.pack(STDERR, len(err)) + err if err else b""
            )
            await self._stream.write(framed)
        else:
            await self._stream.write(out + err if err else out)

    async def exit(self, status: int) -> None:
        if self._framed:
            await self._stream.write(PACKET.pack(EXIT, 1) + bytes([status & 0xFF]))

    async def read_line(self) -> str:
        """The next line that was typed. Raises `StreamClosed` at the end of input."""
        return await (self._read_keys() if self.echo else self._read_bytes())

    async def _read_bytes(self) -> str:
        while b"\n" not in self._typed and not self._over:
            await self._receive()
        if not self._typed:
            raise StreamClosed
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(errors="surrogateescape")

    async def _read_keys(self) -> str:
        """Handles the control keys of a terminal: enter, Ctrl-C, Ctrl-D, backspace."""
        line = bytearray()
        while True:
            while self._typed:
                key, self._typed = self._typed[0], self._typed[1:]
                if key in (10, 13):
                    await self._show(b"\n")
                    return line.decode(errors="surrogateescape")
                if key == END_OF_INPUT and not line:
                    raise StreamClosed
                if key == INTERRUPT:
                    line.clear()
                    await self._show(b"^C\n" + PROMPT)
                elif key in ERASE:
                    if line:
                        line.pop()
                        await self._show(b"\b \b")
                else:
                    line.append(key)
                    await self._show(bytes([key]))
            if self._over:
                if line:
                    return line.decode(errors="surrogateescape")
                raise StreamClosed
            await self._receive()

    async def _show(self, data: bytes) -> None:
        if self.echo:
            await self.write(data, b"")

    async def _receive(self) -> None:
        if not self._framed:
            self._typed += await self._stream.read()
            return
        kind, length = PACKET.unpack(await self._stream.read_exactly(PACKET.size))
        data = await self._stream.read_exactly(length)
        if kind == STDIN:
            self._typed += data
        self._over = self._over or kind == CLOSE_STDIN
