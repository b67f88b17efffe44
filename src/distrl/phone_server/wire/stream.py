"""One stream of a connection: bytes both ways, one unacknowledged write at a time."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

from distrl.errors import DeviceError
from distrl.phone_server.wire.messages import CLSE, OKAY, WRTE, Message

PIPE = 1 << 16
"""Bytes that a program may write ahead of the host, like the buffer of a pipe."""


class StreamClosed(DeviceError):
    """The host closed the stream."""


class MessageSender(Protocol):
    """The part of a connection that a stream uses."""

    max_payload: int

    async def send(self, message: Message) -> None: ...


class Stream:
    """Owned by the task of its service. Flow control: OKAY is sent to the host only after its data was read."""

    def __init__(self, connection: MessageSender, local: int, remote: int) -> None:
        self.local, self.remote = local, remote
        self._connection = connection
        self._received: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._ready = asyncio.Event()
        self._unread = b""
        self._unsent = bytearray()
        self._send_task: asyncio.Task[None] | None = None
        self._accepted = self._closed = False

    # -- the service's side

    async def accept(self) -> None:
        """Accept the stream; later calls have no effect."""
        if self._accepted:
            return
        self._accepted = True
        self._ready.set()
        await self._connection.send(Message(OKAY, self.local, self.remote))

    async def write(self, data: bytes) -> None:
        """Buffered: up to `PIPE` bytes may stay unsent and be joined with the next write. Raises `StreamClosed` when
        the host is gone."""
        self._unsent += data
        await self._send(leave=PIPE)

    async def flush(self) -> None:
        """Wait until everything is sent. Raises `StreamClosed` when the host is gone."""
        await self._send(leave=0)

    async def _send(self, leave: int) -> None:
        """Send what the host is ready for; wait until at most `leave` bytes are unsent."""
        while self._unsent and (self._ready.is_set() or len(self._unsent) > leave):
            await self._ready.wait()
            if self._closed:
                raise StreamClosed
            if self._ready.is_set() and self._unsent:  # no other task has sent it meanwhile
                self._ready.clear()
                piece = bytes(self._unsent[: self._connection.max_payload])
                del self._unsent[: len(piece)]
                await self._connection.send(Message(WRTE, self.local, self.remote, piece))

    async def read(self) -> bytes:
        """The next data, at least one byte. Raises `StreamClosed` at the end."""
        if self._unread:
            data, self._unread = self._unread, b""
            return data
        while True:
            data_or_end = await self._received.get()
            if data_or_end is None:
                self._received.put_nowait(None)  # later reads end too
                raise StreamClosed
            await self._connection.send(Message(OKAY, self.local, self.remote))
            if data_or_end:
                return data_or_end

    async def read_exactly(self, count: int) -> bytes:
        parts, missing = [], count
        while missing:
            data = await self.read()
            parts.append(data[:missing])
            self._unread = data[missing:]
            missing -= len(parts[-1])
        return b"".join(parts)

    async def close(self) -> None:
        """Closing without `accept` is a refusal, marked by local id 0."""
        if not self._closed:
            self._closed = True
            await self._connection.send(Message(CLSE, self.local if self._accepted else 0, self.remote))

    # -- the connection's side

    def feed(self, data: bytes) -> None:
        self._received.put_nowait(data)

    def on_ok(self) -> None:
        """The host acknowledged the last write (OKAY)."""
        self._ready.set()
        if self._unsent:
            self._send_task = asyncio.create_task(self._send_more())  # the service may not write again for a while

    async def _send_more(self) -> None:
        with contextlib.suppress(StreamClosed):
            await self._send(leave=PIPE)

    def end(self) -> None:
        """The host closed it."""
        self._closed = True
        self._ready.set()
        self._received.put_nowait(None)
