"""Phones on ports: each listens on loopback, and is unplugged, offline and plugged in again as faults will have it."""

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
"""Ports between neighbours: emulators keep the even one for their console."""
FEATURES = ("shell_v2", "cmd", "stat_v2", "ls_v2", "fixed_push_mkdir")
BANNER = ("ro.product.name", "ro.product.model", "ro.product.device")


class PhoneListener:
    """One phone on its port. Owns every connection to it."""

    def __init__(self, phone: ServedPhone, port: int) -> None:
        self.phone = phone
        self.port = port
        self._server: asyncio.Server | None = None
        self._connections: dict[HostConnection, asyncio.Task[None] | None] = {}
        self._chores: set[asyncio.Task[None]] = set()
        self._mute_until = 0.0
        phone.hang_up = self.hang_up

    async def open(self) -> None:
        """Listen. Raises `PortTaken`."""
        try:
            self._server = await asyncio.start_server(self._come, HOST, self.port)
        except OSError as error:
            raise PortTaken(
                f"A phone cannot listen on {HOST}:{self.port} ({os.strerror(error.errno or 0)}). "
                "Give a free port with --adb-port."
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        for chore in self._chores:
            chore.cancel()
        if self._server is not None:
            self._server.close()
        waiting = [task for task in self._connections.values() if task is not None]
        self.hang_up()
        await asyncio.gather(*waiting, return_exceptions=True)

    def hang_up(self) -> None:
        for connection in self._connections:
            connection.drop()

    def go_offline(self, seconds: float) -> None:
        """Whoever comes back is not answered for so long."""
        self._mute_until = time.monotonic() + seconds
        self.hang_up()
        self._later(self._wake(seconds))

    def unplug(self, seconds: float) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self.hang_up()
        self._later(self._plug_in(seconds))

    async def _wake(self, seconds: float) -> None:
        await pause(seconds)
        self.hang_up()  # hosts that came meanwhile wait for a greeting; they come again and get it

    async def _plug_in(self, seconds: float) -> None:
        await pause(seconds)
        await self.open()

    def _later(self, chore: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(chore)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)

    async def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
        authorized = "unauthorized" not in self.phone.dice.drawn("connect")
        return Greeting(banner, authorized, mute=time.monotonic() < self._mute_until)

    async def _serve(self, service: str, stream: Stream) -> None:
        await serve(self.phone, service, stream, lambda: self._strike(stream))

    async def _strike(self, stream: Stream) -> bool:
        """What the dice have for the next command; whether it is still to be done."""
        struck = self.phone.dice.drawn("command")
        if "unplug" in struck:
            self.unplug(struck["unplug"])
        elif "offline" in struck:
            self.go_offline(struck["offline"])
        elif "hang" in struck:
            await stream.accept()
            await pause(struck["hang"])
        else:
            await pause(struck.get("slow", 0.0))
            return True
        return False


class PhoneGroup:
    """Several phones side by side, on every second port from the first on; port 0 takes whichever are free."""

    def __init__(self, model: PhoneModel, port: int, phones: int) -> None:
        ports = [port + STEP * index if port else 0 for index in range(phones)]
        self.outlets = [
            PhoneListener(ServedPhone(model, f"distrl{number or index}"), number) for index, number in enumerate(ports)
        ]

    async def __aenter__(self) -> PhoneGroup:
        try:
            for outlet in self.outlets:
                await outlet.open()
        except PortTaken:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        for outlet in self.outlets:
            await outlet.close()

    @property
    def addresses(self) -> list[str]:
        """What `adb connect` takes."""
        return [f"{HOST}:{outlet.port}" for outlet in self.outlets]
