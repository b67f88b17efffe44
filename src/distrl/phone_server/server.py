"""Served phones, each listening on a loopback port, with the faults that affect connections."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Coroutine

from distrl.errors import PortTaken
from distrl.phone_server.commands.system import properties
from distrl.phone_server.phone import PhoneModel, ServedPhone, pause
from distrl.phone_server.services.dispatch import serve
from distrl.phone_server.wire.connection import Greeting, HostConnection
from distrl.phone_server.wire.stream import Stream

HOST = "127.0.0.1"
STEP = 2
"""Between the ports of two phones: emulators use the even one for their console."""
FEATURES = ("shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir")
BANNER = ("ro.product.name", "ro.product.model", "ro.product.device")


class PhoneListener:
    """Listens for one phone on its port and owns the connections to it."""

    def __init__(self, phone: ServedPhone, port: int) -> None:
        self.phone = phone
        self.port = port
        self._server: asyncio.Server | None = None
        self._connections: dict[HostConnection, asyncio.Task[None] | None] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._offline_until = 0.0
        phone.hang_up = self.hang_up

    async def open(self) -> None:
        """Listen. Raises `PortTaken`."""
        try:
            self._server = await asyncio.start_server(self._on_connect, HOST, self.port)
        except OSError as error:
            raise PortTaken(
                f"A phone cannot listen on {HOST}:{self.port} ({os.strerror(error.errno or 0)}). "
                "Give a free port with --adb-port."
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        for task in self._background:
            task.cancel()
        if self._server is not None:
            self._server.close()
        waiting = [task for task in self._connections.values() if task is not None]
        self.hang_up()
        await asyncio.gather(*waiting, return_exceptions=True)

    def hang_up(self) -> None:
        for connection in self._connections:
            connection.drop()

    def go_offline(self, seconds: float) -> None:
        """Close all connections and answer none for this long."""
        self._offline_until = time.monotonic() + seconds
        self.hang_up()
        self._run_in_background(self._come_online(seconds))

    def unplug(self, seconds: float) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self.hang_up()
        self._run_in_background(self._plug_in(seconds))

    async def _come_online(self, seconds: float) -> None:
        await pause(seconds)
        self.hang_up()  # hosts that connected meanwhile got no greeting; let them reconnect

    async def _plug_in(self, seconds: float) -> None:
        await pause(seconds)
        await self.open()

    def _run_in_background(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _on_connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = HostConnection(reader, writer, self._greeting(), self._serve)
        self._connections[connection] = asyncio.current_task()
        try:
            await connection.run()
        finally:
            del self._connections[connection]

    def _greeting(self) -> Greeting:
        known = properties(self.phone)
        described = "".join(f"{name}={known[name]};" for name in BANNER)
        banner = f"device::{described}features={','.join(FEATURES)}".encode()
        authorized = "unauthorized" not in self.phone.fault_injector.draw("connect")
        return Greeting(banner, authorized, mute=time.monotonic() < self._offline_until)

    async def _serve(self, service: str, stream: Stream) -> None:
        await serve(self.phone, service, stream, lambda: self._inject_faults(stream))

    async def _inject_faults(self, stream: Stream) -> bool:
        """Inject the faults drawn for the next command; whether the command is still to be run."""
        faults = self.phone.fault_injector.draw("command")
        if "unplug" in faults:
            self.unplug(faults["unplug"])
        elif "offline" in faults:
            self.go_offline(faults["offline"])
        elif "hang" in faults:
            await stream.accept()
            await pause(faults["hang"])
        else:
            await pause(faults.get("slow", 0.0))
            return True
        return False


class PhoneGroup:
    """Several phones, on every second port from the first on; port 0 takes free ports."""

    def __init__(self, model: PhoneModel, port: int, phones: int) -> None:
        ports = [port + STEP * index if port else 0 for index in range(phones)]
        self.listeners = [
            PhoneListener(ServedPhone(model, f"distrl{number or index}"), number) for index, number in enumerate(ports)
        ]

    async def __aenter__(self) -> PhoneGroup:
        try:
            for listener in self.listeners:
                await listener.open()
        except PortTaken:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        for listener in self.listeners:
            await listener.close()

    @property
    def addresses(self) -> list[str]:
        """Addresses for `adb connect`."""
        return [f"{HOST}:{listener.port}" for listener in self.listeners]
