"""The stand-in emulator as a program: from its command line to a phone that an adb server knows as `emulator-PORT`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys

from distrl.errors import DistrlError
from distrl.phone_server.emulator import folder
from distrl.phone_server.emulator.arguments import FLAGS, WITH_VALUE, Arguments, Usage
from distrl.phone_server.emulator.console import Console
from distrl.phone_server.emulator.faults import EmulatorFaults
from distrl.phone_server.emulator.folder import SNAPSHOT, AvdFolder
from distrl.phone_server.phone import PhoneModel, ServedPhone, pause
from distrl.phone_server.server import HOST, PhoneListener

VERSION = "Android emulator version 0.0.0.0 (DistRL stand-in)"
USUAL_SERVER = 5037
CRASHED = 139


def main(words: list[str]) -> int:
    """The exit status. Errors are printed as the emulator prints them."""
    try:
        arguments = Arguments.parse(words)
        if "version" in arguments.flags:
            print(VERSION)
            return 0
        if "help" in arguments.flags:
            print("\n".join(f"    -{name}" for name in sorted(FLAGS | WITH_VALUE)))
            return 0
        if "accel-check" in arguments.flags:
            print("accel:\n0\nThe stand-in needs no KVM.\naccel")
            return 0
        place = folder.home(os.environ)
        if "list-avds" in arguments.flags:
            print("\n".join(folder.names(place)))
            return 0
        avd = AvdFolder(place, arguments.values.get("avd", ""))
        with avd.locked(read_only=arguments.read_only):
            asyncio.run(StandIn(arguments, avd, EmulatorFaults.take(os.environ)).run())
    except (Usage, DistrlError, OSError) as error:
        print(f"ERROR        | {error}", file=sys.stderr, flush=True)
        return 1
    return 0


class StandIn:
    """One emulator. Owns its ports and its phone."""

    def __init__(self, arguments: Arguments, avd: AvdFolder, faults: EmulatorFaults) -> None:
        self._arguments, self._avd, self._faults = arguments, avd, faults.emulator
        self._port = arguments.port
        if "wipe-data" in arguments.flags:
            avd.wipe()
        model = PhoneModel(avd.settings.get("distrl.device", "sim://phone"), faults=faults.phone)
        self._phone = ServedPhone(model, f"emulator-{self._port}")
        self._listener = PhoneListener(self._phone, self._port + 1)
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        """Run until it is stopped. Raises `Usage`, `PortTaken` and `OSError`."""
        print(f"INFO         | {VERSION}", flush=True)
        if "refuses" in self._faults:
            raise Usage("x86_64 emulation currently requires hardware acceleration!")
        self._handle_signals()
        console = Console({"avd": self._avd_command, "kill": self._kill, "ping": self._ping, "help": self._help})
        await console.open(HOST, self._port)
        self._load_state()
        await self._listener.open()
        self._register()
        try:
            await self._run_until_stopped()
        finally:
            console.close()
            await self._listener.close()
        if not self._arguments.read_only:
            self._avd.save_data(self._phone.save())

    async def _run_until_stopped(self) -> None:
        if "zombie" in self._faults:
            self._avd.write_lock(SNAPSHOT)
        if "crash" not in self._faults:
            await self._stopped.wait()
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopped.wait(), self._faults["crash"])
            return
        os._exit(CRASHED)

    def _handle_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self._stop)

    def _stop(self) -> None:
        if "zombie" not in self._faults:
            self._stopped.set()

    def _load_state(self) -> None:
        tree = self._avd.snapshot(self._arguments.snapshot) if self._arguments.snapshot else None
        if tree is not None:
            self._load(tree)
        elif (data := self._avd.data()) is not None:
            self._phone.load(data)
            self._phone.reboot()

    def _load(self, tree: dict[str, object]) -> None:
        self._phone.load(tree)
        self._phone.power.boot()
        if "snapshot-lies" in self._faults:
            self._phone.power.stall()
        self._phone.hang_up()

    def _register(self) -> None:
        """Register with the adb server; a server that starts later scans for emulators itself."""
        task = asyncio.get_running_loop().create_task(_register_with_server(self._port + 1))
        task.add_done_callback(lambda task: None)

    # -- the console

    async def _ping(self, words: list[str]) -> str:
        return "I am alive!\r\nOK"

    async def _help(self, words: list[str]) -> str:
        return "Android console commands:\r\n    help  ping  auth  avd  kill  quit\r\nOK"

    async def _kill(self, words: list[str]) -> str:
        asyncio.get_running_loop().call_later(0.05, self._stop)  # after the answer is sent
        return "OK: killing emulator, bye bye"

    async def _avd_command(self, words: list[str]) -> str:
        if words == ["name"]:
            return f"{self._avd.name}\r\nOK"
        if words == ["snapshot", "list"]:
            return "\r\n".join([*self._avd.snapshots(), "OK"])
        if len(words) == 3 and words[:2] == ["snapshot", "save"]:
            if self._arguments.read_only:
                return "KO: Snapshot save failed: the emulator was started with -read-only"
            self._avd.save_snapshot(words[2], self._phone.save())
            return "OK"
        if len(words) == 3 and words[:2] == ["snapshot", "load"]:
            return await self._load_named(words[2])
        return "KO: bad sub-command"

    async def _load_named(self, name: str) -> str:
        if "snapshot-hangs" in self._faults:
            await pause(self._faults["snapshot-hangs"])
        tree = self._avd.snapshot(name)
        if tree is None:
            return f"KO: Device '{self._avd.name}' does not have the requested snapshot '{name}'"
        self._load(tree)
        self._register()
        return "OK"


async def _register_with_server(port: int) -> None:
    message = f"host:emulator:{port}"
    with contextlib.suppress(OSError, ValueError):
        server = int(os.environ.get("ANDROID_ADB_SERVER_PORT") or USUAL_SERVER)
        _, writer = await asyncio.open_connection(HOST, server)
        writer.write(f"{len(message):04x}{message}".encode())
        await writer.drain()
        writer.close()
