"""The way from this process to one phone: the worker's adb server, the claim on the phone, and calls to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

from adbutils import AdbError

from distrl.devices.adb.attaching import attach, attach_again
from distrl.devices.adb.calls import Calls, guarded
from distrl.devices.adb.claims import Claim
from distrl.devices.adb.line import Line
from distrl.devices.adb.options import AdbOptions, in_network
from distrl.devices.adb.server import AdbServer, borrow, give_back
from distrl.errors import DeviceError, StillBooting

T = TypeVar("T")

ABOUT = "getprop ro.distrl.phone; getprop sys.boot_completed"


class Attachment:
    """Made when it is first asked for, so that opening a phone costs nothing. A claim lasts until it is closed."""

    def __init__(self, address: str, options: AdbOptions, slot: int) -> None:
        self.served = False
        """Whether the phone is one of `distrl phone`. Known once there were calls."""
        self.serial = ""
        self._address = address
        self._options = options
        self._slot = slot
        self._server: AdbServer | None = None
        self._claim: Claim | None = None
        self._calls: Calls | None = None
        self._booted = False

    async def make(self) -> Calls:
        """Calls to a phone that is there, trusts us and has booted. Raises `DeviceError`."""
        calls = await self.reach()
        if not self._booted:
            served, booted = ((await calls.shell("getprop", ABOUT)).text + "\n\n").split("\n")[:2]
            if booted.strip() != "1":
                raise StillBooting(calls.address)
            self.served, self._booted = served.strip() == "simulated", True
        return calls

    async def reach(self) -> Calls:
        """Calls to a phone that is there and trusts us, whether it has booted or not."""
        if self._calls is not None:
            return self._calls
        server = self._server = self._server or borrow(self._options.seeks)
        port = await asyncio.to_thread(server.ensure)
        if self._claim is None:
            self.serial, self._claim = await self._guarded(port, lambda line: attach(line, self._options, self._slot))
        else:
            await self._guarded(port, lambda line: attach_again(line, self._options, self.serial))
        self._calls = Calls(port, self.serial, self._options.call_s)
        return self._calls

    def forget(self) -> None:
        """The next call makes a new line; the phone stays ours meanwhile."""
        if self._calls is not None:
            self._calls.close()
        self._calls, self._booted = None, False

    async def drop(self) -> None:
        """The same, and the server hangs up too."""
        self.forget()
        if self._server is None or not self.serial:
            return
        serial = self.serial

        def hang_up(line: Line) -> None:
            with contextlib.suppress(AdbError):  # it is not there: nothing to hang up
                if in_network(serial):
                    line.client.disconnect(serial)
                else:
                    line.reconnect(serial)

        with contextlib.suppress(DeviceError):  # a server that died is started again by whoever asks next
            await self._guarded(self._server.port, hang_up)

    async def close(self) -> None:
        self.forget()
        claim, self._claim = self._claim, None
        server, self._server = self._server, None
        try:
            if server is not None and in_network(self.serial):
                await self._guarded(server.port, lambda line: line.client.disconnect(self.serial))
        except DeviceError:
            pass  # it left before us
        finally:
            if claim is not None:
                claim.give_back()
            if server is not None:
                await asyncio.to_thread(give_back, server)

    async def _guarded(self, port: int, work: Callable[[Line], T]) -> T:
        return await guarded(self._address, "attach", work, port, 2 * self._options.call_s)
