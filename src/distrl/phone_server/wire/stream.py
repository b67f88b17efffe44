"""One stream of a connection: bytes both ways, one write on its way at a time."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

from distrl.errors import DeviceError
from distrl.phone_server.wire.messages import CLSE, OKAY, WRTE, Message

PIPE = 1 << 16
"""Bytes that a program may write before the host has taken them, as into a pipe of the phone's kernel."""


class StreamClosed(DeviceError):
    """The host closed the stream: its service has nothing more to do."""


class MessageSender(Protocol):
    """What a stream needs of its connection."""

    max_payload: int

    async def send(self, message: Message) -> None: ...


class Stream:
    """Owned by the task of its service. The host is told to go on (OKAY) only when what it sent has been read."""

    def __init__(self, line: MessageSender, local: int, remote: int) -> None:
        self.local, self.remote = local, remote
        self._line = line
        self._inbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._ready = asyncio.Event()
        self._left = b""
        self._outbox = bytearray()
        self._sender: asyncio.Task[None] | None = None
        self._accepted = self._over = False

    # -- the service's side

    async def accept(self) -> None:
        """Tell the host, once, that the service is there."""
        if self._accepted:
            return
        self._accepted = True
        self._ready.set()
        await self._line.send(Message(OKAY, self.local, self.remote))

    async def write(self, data: bytes) -> None:
        """In pieces that the host takes; the last of it may still wait, and go together with what is written next.
        Raises `StreamClosed` when the host is gone."""
        self._outbox += data
        await self._send(leave=PIPE)

    async def flush(self) -> None:
        """Wait until the host was given everything. Raises `StreamClosed` when it is gone."""
        await self._send(leave=0)

    async def _send(self, leave: int) -> None:
        """What the host is ready for, at once; the rest too, until no more than `leave` bytes wait."""
        while self._outbox and (self._ready.is_set() or len(self._outbox) > leave):
            await self._ready.wait()
            if self._over:
                raise StreamClosed
            if self._ready.is_set() and self._outbox:  # nobody else was faster
                self._ready.clear()
                piece = bytes(self._outbox[: self._line.max_payload])
                del self._outbox[: len(piece)]
                await self._line.send(Message(WRTE, self.local, self.remote, piece))

    async def read(self) -> bytes:
        """What came next, at least one byte. Raises `StreamClosed` at the end."""
        if self._left:
            data, self._left = self._left, b""
            return data
        while True:
            data_or_end = await self._inbox.get()
            if data_or_end is None:
                self._inbox.put_nowait(None)  # whoever asks again hears the same
                raise StreamClosed
            await self._line.send(Message(OKAY, self.local, self.remote))
            if data_or_end:
                return data_or_end

    async def read_exactly(self, count: int) -> bytes:
        parts, missing = [], count
        while missing:
            data = await self.read()
            parts.append(data[:missing])
            self._left = data[missing:]
            missing -= len(parts[-1])
        return b"".join(parts)

    async def close(self) -> None:
        """An end that was never accepted is a refusal: the host knows it by the missing id."""
        if not self._over:
            self._over = True
            await self._line.send(Message(CLSE, self.local if self._accepted else 0, self.remote))

    # -- the connection's side

    def feed(self, data: bytes) -> None:
        self._inbox.put_nowait(data)

    def go_on(self) -> None:
        """The host takes more."""
        self._ready.set()
        if self._outbox:
            self._sender = asyncio.create_task(self._send_more())  # its service may be busy, or asleep

    async def _send_more(self) -> None:
        with contextlib.suppress(StreamClosed):
            await self._send(leave=PIPE)

    def end(self) -> None:
        """The host closed it."""
        self._over = True
        self._ready.set()
        self._inbox.put_nowait(None)
