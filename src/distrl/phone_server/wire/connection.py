"""One connected host: the handshake, then streams, each served by its own task."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from distrl.errors import CorruptData
from distrl.phone_server.wire import messages
from distrl.phone_server.wire.messages import AUTH, CLSE, CNXN, OKAY, OPEN, WRTE, Message
from distrl.phone_server.wire.stream import Stream, StreamClosed

TOKEN, SIGNATURE = 1, 2
"""Kinds of AUTH messages: ask for a signature, and give one."""
TOKEN_BYTES = 20

Serve = Callable[[str, Stream], Awaitable[None]]
"""Serves one stream: the service that the host named, such as `shell:ls`. Returning without `accept` refuses it."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """How a phone answers the handshake of a host."""

    banner: bytes
    authorized: bool = True
    """False: every key is refused, as before "Allow USB debugging" is pressed."""
    mute: bool = False
    """Sends no answer: the host lists the phone as offline."""


class HostConnection:
    """Serves one host until it disconnects; its running services are cancelled then."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, greeting: Greeting, serve: Serve
    ) -> None:
        self.max_payload = messages.SMALLEST_PAYLOAD
        self._reader, self._writer = reader, writer
        self._greeting, self._serve = greeting, serve
        self._version = messages.OLDEST
        self._greeted = False
        self._streams: dict[int, Stream] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._last_id = 0

    async def run(self) -> None:
        try:
            while True:
                await self._answer(await messages.read(self._reader, summed=self._summed))
        except (asyncio.IncompleteReadError, ConnectionError, CorruptData, StreamClosed):
            pass  # the host disconnected, or does not speak ADB
        finally:
            await self._end()

    def drop(self) -> None:
        """Close the connection at once."""
        self._writer.transport.abort()

    async def send(self, message: Message) -> None:
        if self._writer.is_closing():
            raise StreamClosed
        self._writer.write(messages.pack(message, summed=self._summed or message.command == CNXN))
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

    @property
    def _summed(self) -> bool:
        return self._version < messages.VERSION

    async def _answer(self, message: Message) -> None:
        if self._greeting.mute:
            return
        if message.command == CNXN:
            await self._greet(message)
        elif message.command == AUTH:
            if message.first == SIGNATURE:  # after its last key the host sends its public key; it is not accepted
                await self._ask_for_key()
        elif not self._greeted:
            raise CorruptData(f"The host began with {message.command.decode()} and not with CNXN.")
        elif message.command == OPEN:
            await self._open(message)
        else:
            await self._pass_on(message)

    async def _greet(self, message: Message) -> None:
        if not self._greeting.authorized:
            await self._ask_for_key()
            return
        self._version = min(message.first, messages.VERSION)
        self.max_payload = max(1, min(message.second, messages.MAX_PAYLOAD))
        self._greeted = True
        await self.send(Message(CNXN, messages.VERSION, messages.MAX_PAYLOAD, self._greeting.banner))

    async def _ask_for_key(self) -> None:
        await self.send(Message(AUTH, TOKEN, 0, os.urandom(TOKEN_BYTES)))

    async def _open(self, message: Message) -> None:
        self._last_id += 1
        stream = Stream(self, self._last_id, message.first)
        self._streams[stream.local] = stream
        service = message.data.rstrip(b"\0").decode(errors="surrogateescape")
        self._tasks[stream.local] = asyncio.create_task(self._attend(service, stream))

    async def _attend(self, service: str, stream: Stream) -> None:
        try:
            await self._serve(service, stream)
            await stream.flush()
        except StreamClosed:
            pass
        finally:
            self._streams.pop(stream.local, None)
            self._tasks.pop(stream.local, None)
            with contextlib.suppress(StreamClosed):
                await stream.close()

    async def _pass_on(self, message: Message) -> None:
        stream = self._streams.get(message.second)
        if stream is None:
            if message.command == WRTE:  # the stream was closed meanwhile
                await self.send(Message(CLSE, 0, message.first))
        elif message.command == OKAY:
            stream.on_ok()
        elif message.command == WRTE:
            stream.feed(message.data)
        elif message.command == CLSE:
            stream.end()
            self._tasks[stream.local].cancel()

    async def _end(self) -> None:
        for stream in self._streams.values():
            stream.end()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._writer.close()
