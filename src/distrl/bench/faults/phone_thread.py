"""Served phones on an event loop in a thread of their own; faults are injected while a worker plays."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import TracebackType

from distrl.devices.adb.connection import AdbSession
from distrl.devices.adb.server import acquire_server, release_server
from distrl.phone_server.phone import PhoneModel, ServedPhone
from distrl.phone_server.server import PhoneGroup

TIMEOUT_S = 30.0


class PhoneThread:
    """`with PhoneThread(model, 8) as phones: phones.address('')`."""

    def __init__(self, model: PhoneModel, count: int) -> None:
        self._model = model
        self._count = count
        self._loop = asyncio.new_event_loop()
        self._stopping = asyncio.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._serve()), daemon=True)
        self._rack: PhoneGroup | None = None

    def __enter__(self) -> PhoneThread:
        self._thread.start()
        if not self._ready.wait(TIMEOUT_S) or self._rack is None:
            raise TimeoutError("The served phones did not start.")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(TIMEOUT_S)

    def address(self, query: str) -> str:
        """Address of all phones, for a worker."""
        assert self._rack is not None
        return f"adb://{','.join(self._rack.addresses)}?{query}".rstrip("?")

    def kill_server(self) -> None:
        """End this process's own adb server, as a crash would."""
        server = acquire_server(False)
        try:
            AdbSession(server.port).adb.server_kill()
        finally:
            release_server(server)

    def kill_one(self) -> None:
        raise NotImplementedError("Served phones are no processes of their own.")

    def inject(self, number: int, work: Callable[[ServedPhone], None]) -> None:
        """Change a phone, in the thread that serves it."""
        assert self._rack is not None
        self._loop.call_soon_threadsafe(work, self._rack.listeners[number].phone)

    async def _serve(self) -> None:
        async with PhoneGroup(self._model, 0, self._count) as rack:
            self._rack = rack
            self._ready.set()
            await self._stopping.wait()
