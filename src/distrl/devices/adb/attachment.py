"""The connection of this process to one phone: the adb server, the lock on the phone, and the client."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from adbutils import AdbError

from distrl.devices.adb.connection import AdbSession
from distrl.devices.adb.discovery import attach, reattach
from distrl.devices.adb.file_lock import FileLock
from distrl.devices.adb.options import AdbOptions, in_network
from distrl.devices.adb.phone_client import PhoneClient, call_with_timeout
from distrl.devices.adb.server import AdbServer, acquire_server, release_server
from distrl.errors import DeviceError, StillBooting

T = TypeVar("T")

ABOUT = "getprop ro.distrl.phone; getprop sys.boot_completed"


class Attachment:
    """Connects at first use. The lock on the phone is held until `close`."""

    def __init__(self, address: str, options: AdbOptions, slot: int) -> None:
        self.served = False
        """Whether the phone is one of `distrl phone`; known once connected."""
        self.serial = ""
        self._address = address
        self._options = options
        self._slot = slot
        self._server: AdbServer | None = None
        self._lock: FileLock | None = None
        self._client: PhoneClient | None = None
        self._booted = False

    async def connect_booted(self) -> PhoneClient:
        """A client for a phone that is attached, authorised and booted. Raises `DeviceError`."""
        client = await self.connect()
        if not self._booted:
            served, booted = ((await client.shell("getprop", ABOUT)).text + "\n\n").split("\n")[:2]
            if booted.strip() != "1":
                raise StillBooting(client.address)
            self.served, self._booted = served.strip() == "simulated", True
        return client

    async def connect(self) -> PhoneClient:
        """A client for a phone that is attached and authorised, booted or not."""
        if self._client is not None:
            return self._client
        server = self._server = self._server or acquire_server(self._options.scans)
        port = await asyncio.to_thread(server.ensure)
        if self._lock is None:
            self.serial, self._lock = await self._guarded(
                port, lambda session: attach(session, self._options, self._slot)
            )
        else:
            await self._guarded(port, lambda session: reattach(session, self._options, self.serial))
        self._client = PhoneClient(port, self.serial, self._options.call_s)
        return self._client

    def forget(self) -> None:
        """Close the client; the next call connects again. The lock is kept."""
        if self._client is not None:
            self._client.close()
        self._client, self._booted = None, False

    async def drop(self) -> None:
        """The same, and have the adb server disconnect the phone."""
        self.forget()
        if self._server is None or not self.serial:
            return
        serial = self.serial

        def hang_up(session: AdbSession) -> None:
            with contextlib.suppress(AdbError):  # it is not attached: nothing to disconnect
                if in_network(serial):
                    session.adb.disconnect(serial)
                else:
                    session.reconnect(serial)

        with contextlib.suppress(DeviceError):  # a dead server is restarted by the next call
            await self._guarded(self._server.port, hang_up)

    async def close(self) -> None:
        self.forget()
        lock, self._lock = self._lock, None
        server, self._server = self._server, None
        try:
            if server is not None and in_network(self.serial):
                await self._guarded(server.port, lambda session: session.adb.disconnect(self.serial))
        except DeviceError:
            pass  # it is disconnected already
        finally:
            if lock is not None:
                lock.release()
            if server is not None:
                await asyncio.to_thread(release_server, server)

    async def _guarded(self, port: int, work: Callable[[AdbSession], T]) -> T:
        return await call_with_timeout(self._address, "attach", work, port, 2 * self._options.call_s)
