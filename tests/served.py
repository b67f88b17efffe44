"""Phones served in this process, on a loop in a thread, and the real `adb` with a server of its own."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from processes import free_port

from distrl.devices.open import open_device
from distrl.phone_server.faults import parse
from distrl.phone_server.phone import PhoneModel, ServedPhone
from distrl.phone_server.server import PhoneGroup
from distrl.phone_server.shell.interpreter import Interpreter

PATIENCE_S = 20
KINDS = ("distribution", "adbutils")
"""Whose adb: Debian's is the oldest in use, the one that comes with adbutils is new."""


class Served:
    """A rack of phones that others can talk to over TCP while a test looks inside."""

    def __init__(self, rack: PhoneGroup, loop: asyncio.AbstractEventLoop) -> None:
        self._rack, self._loop = rack, loop
        self.addresses = rack.addresses
        self.address = rack.addresses[0]
        self.listener = rack.listeners[0]
        self.phones = [listener.phone for listener in rack.listeners]
        self.phone = self.listener.phone

    def ask(self, work):
        """Run a coroutine where the phones live."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)


@contextmanager
def served(*faults: str, phones: int = 1, seed: int = 0, scale: int = 1) -> Iterator[Served]:
    loop, ready, over = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    racks: list[PhoneGroup] = []

    async def serve():
        async with PhoneGroup(PhoneModel(seed=seed, scale=scale, faults=parse(list(faults))), 0, phones) as rack:
            racks.append(rack)
            ready.set()
            await over.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE_S)
    try:
        yield Served(racks[0], loop)
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(PATIENCE_S)
        loop.close()


def strike(phone, when: str, *times: dict[str, float]):
    """The next draws of that kind give these faults, one at each. Returns what is still to come."""
    for struck in times:
        for name, seconds in struck.items():
            phone.fault_injector.schedule(name, seconds)
    return phone.fault_injector.scheduled[when]


@asynccontextmanager
async def opened(address: str, slot: int = 0):
    """The device of a worker's slot, for as long as a test plays with it."""
    device = open_device(address, seed=0, name=f"test/{slot}")
    try:
        yield device
    finally:
        await device.close()


def typed(phone: ServedPhone, line: str) -> tuple[int, str, str]:
    """Exit status, output and errors of a line in the phone's shell, without any wire."""
    out, err = bytearray(), bytearray()

    async def sink(more_out: bytes, more_err: bytes) -> None:
        out.extend(more_out)
        err.extend(more_err)

    status = asyncio.run(Interpreter(phone, sink).run(line))
    return status, out.decode(errors="surrogateescape"), err.decode(errors="surrogateescape")


def programs() -> dict[str, str]:
    """Kind → path of the `adb` programs of this machine."""
    found = {}
    if shutil.which("adb"):
        found["distribution"] = str(shutil.which("adb"))
    library = importlib.util.find_spec("adbutils")
    bundled = Path(str(library.origin)).parent / "binaries" / "adb" if library else Path("nowhere")
    if bundled.exists():
        found["adbutils"] = str(bundled)
    return found


class Adb:
    """An adb client with a server on a port of its own; nobody else's server is touched."""

    def __init__(self, program: str, home: Path) -> None:
        self.program = program
        self.port = free_port()
        self._environment = os.environ | {
            "ANDROID_ADB_SERVER_PORT": str(self.port), "HOME": str(home), "ADB_MDNS": "0", "ADB_LIBUSB": "0",
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "5554",
        }  # fmt: skip
        self._environment.pop("ANDROID_SERIAL", None)

    def __call__(
        self, *arguments: str, typed: bytes = b"", timeout_s: float = PATIENCE_S
    ) -> subprocess.CompletedProcess[bytes]:
        command = [self.program, *arguments]
        return subprocess.run(command, env=self._environment, input=typed, capture_output=True, timeout=timeout_s)

    def start(self) -> None:
        answer = self("start-server", timeout_s=60)
        assert answer.returncode == 0, answer.stderr

    def stop(self) -> None:
        self("kill-server")


@contextmanager
def adb_server(kind: str, home: Path) -> Iterator[Adb]:
    """An adb of that kind with its server; skips the test where there is none."""
    if kind not in programs():
        pytest.skip(f"no adb of the {kind} here; `make adb` installs the distribution's")
    adb = Adb(programs()[kind], home)
    adb.start()
    try:
        yield adb
    finally:
        adb.stop()
