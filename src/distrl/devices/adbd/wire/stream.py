"""One stream of a connection: bytes both ways, one write on its way at a time."""

from __future__ import annotations

import asyncio
from typing import Protocol

from distrl.devices.adbd.wire.messages import CLSE, OKAY, WRTE, Message
from distrl.errors import DeviceError


class Ended(DeviceError):
    """The host closed the stream: its service has nothing more to do."""


class Line(Protocol):
    """What a stream needs of its connection."""

    max_payload: int

    async def send(self, message: Message) -> None: ...


class Stream:
    """Owned by the task of its service. The host is told to go on (OKAY) only when what it sent has been read."""

    def __init__(self, line: Line, local: int, remote: int) -> None:
        self.local, self.remote = local, remote
        self._line = line
        self._inbox: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._ready = asyncio.Event()
        self._left = b""
        self._accepted = self._over = False

    # -- the service's side

    async def accept(self) -> None:
        """Tell the host that the service is there."""
        self._accepted = True
        self._ready.set()
        await self._line.send(Message(OKAY, self.local, self.remote))

    async def write(self, data: bytes) -> None:
        """All of it, in pieces that the host takes. Raises `Ended` when the host is gone."""
        size = self._line.max_payload
        for start in range(0, len(data), size):
            await self._ready.wait()
            if self._over:
                raise Ended
            self._ready.clear()
            await self._line.send(Message(WRTE, self.local, self.remote, data[start : start + size]))

    async def read(self) -> bytes:
        """What came next, at least one byte. Raises `Ended` at the end."""
        if self._left:
            data, self._left = self._left, b""
            return data
        while True:
            data_or_end = await self._inbox.get()
            if data_or_end is None:
                self._inbox.put_nowait(None)  # whoever asks again hears the same
                raise Ended
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
        self._ready.set()

    def end(self) -> None:
        """The host closed it."""
        self._over = True
        self._ready.set()
        self._inbox.put_nowait(None)
