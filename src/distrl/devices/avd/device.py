"""A phone in an emulator of ours as a device: `avd://Pixel_7?snapshot=clean&reset=snapshot`.

The emulator is started with `-read-only`, so any number can run from one AVD and none changes it. The phone inside is
driven like any `adb://` phone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar, get_args

from distrl.devices.adb.device import AdbPhone
from distrl.devices.adb.file_lock import FileLock
from distrl.devices.adb.server import AdbServer, acquire_server, release_server
from distrl.devices.avd.options import AvdOptions
from distrl.devices.avd.running_emulator import Launch, RunningEmulator
from distrl.devices.avd.sdk import find_avd
from distrl.devices.base import Recoverable, Rung
from distrl.errors import BootFailed, DeviceError, DeviceGone, NoEmulator, NoSuchDevice, SnapshotFailed
from distrl.types import Action, Screen, Task, Tree

T = TypeVar("T")

LADDER: tuple[Rung, ...] = get_args(Rung)
MAX_STARTS = 2
"""Starts in a row before `BootFailed`; recovery rungs start it again."""
MAX_FAILED_LOADS = 2
"""Failed loads of a snapshot in a row before `SnapshotFailed`."""


class AvdPhone:
    """One phone, its emulator, and its slot of `count`. Started at first use."""

    def __init__(self, address: str, *, seed: int = 0, name: str = "") -> None:
        self.address = address
        self._options = AvdOptions.parse(address)
        self._name = name
        self._server: AdbServer | None = None
        self._slot_lock: FileLock | None = None
        self._running: RunningEmulator | None = None
        self._last_port = 0
        self._pristine = False
        """Unchanged since it was started or its snapshot was loaded."""
        self._starts = 0
        self._loads = 0
        self._failed_loads = 0

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """The rungs that can help: once the emulator has died, only those that start a new one."""
        if self._running is not None and not self._running.emulator.alive:
            return ("reboot", "wipe")
        return self._all_rungs

    @property
    def _all_rungs(self) -> tuple[Rung, ...]:
        """The rungs of the phone inside, and those of the emulator."""
        phone = self._running.phone if self._running is not None else None
        gentle: tuple[Rung, ...] = phone.rungs if isinstance(phone, Recoverable) else ()
        return tuple(rung for rung in LADDER if rung in gentle or rung in self._own_rungs)

    @property
    def _own_rungs(self) -> tuple[Rung, ...]:
        return (
            ("reconnect", "snapshot", "reboot", "wipe") if self._options.snapshot else ("reconnect", "reboot", "wipe")
        )

    # -- the device protocol

    async def start(self) -> None:
        """Start the emulator from its snapshot, then retry with a cold boot. Raises `NoEmulator` and `BootFailed`."""
        if self._running is not None and self._running.emulator.alive:
            await self._running.reconnect()
            return
        reasons: list[str] = []
        for number in range(MAX_STARTS):
            try:
                await self._launch(self._options.snapshot if number == 0 else "")
                return
            except NoEmulator:
                raise
            except DeviceError as error:
                reasons.append(str(error))
        await self._stop()
        raise BootFailed(self.address, reasons)

    async def reset(self, task: Task) -> Screen:
        phone = await self._phone()
        if self._options.loads and not self._pristine:
            phone = await self._restore_snapshot()
        self._pristine = False
        return await self._call("reset", phone.reset(task))

    async def perform(self, action: Action) -> None:
        phone = await self._phone()
        self._pristine = False
        await self._call("perform", phone.perform(action))

    async def screen(self) -> Screen:
        return await self._call("screen", (await self._phone()).screen())

    async def evidence(self) -> Tree | None:
        return await self._call("evidence", (await self._phone()).evidence())

    def facts(self) -> Tree:
        """Its serial, and how many emulators were started."""
        known = {"serial": f"emulator-{self._running.port}"} if self._running is not None else {}
        return {**known, "starts": self._starts}

    async def close(self) -> None:
        await self._stop()
        lock, self._slot_lock = self._slot_lock, None
        server, self._server = self._server, None
        if lock is not None:
            lock.release()
        if server is not None:
            await asyncio.to_thread(release_server, server)

    # -- recovery

    async def recover(self, rung: Rung) -> None:
        if rung not in self._all_rungs:
            raise DeviceError(f"{self.address} has no rung {rung!r}; it has {', '.join(self._all_rungs)}.")
        if rung == "reboot":
            await self._launch(self._options.snapshot)
        elif rung == "wipe":
            await self._launch("", wiped=self._options.wipe == "data")
        elif self._running is None:
            raise DeviceError(f"{self.address} has no emulator for {rung!r}; the next rungs start one.")
        elif rung == "reconnect":
            await self._call(rung, self._running.reconnect())
        elif rung == "snapshot":
            await self._load(self._running)
        elif isinstance(self._running.phone, Recoverable):
            await self._call(rung, self._running.phone.recover(rung))

    async def _restore_snapshot(self) -> AdbPhone:
        """Load the snapshot; after a failure boot cold. After `recycle` loads a new emulator is started instead."""
        if self._options.recycle and self._loads >= self._options.recycle:
            await self._launch(self._options.snapshot)
        elif self._running is not None:
            try:
                await self._load(self._running)
            except SnapshotFailed:
                self._failed_loads += 1
                if self._failed_loads >= MAX_FAILED_LOADS:
                    raise
                await self._launch("")
        return await self._phone()

    async def _load(self, running: RunningEmulator) -> None:
        self._loads += 1
        try:
            await running.load(self._options.snapshot, self._options.load_s)
        except DeviceError as error:
            raise SnapshotFailed(self.address, self._options.snapshot, str(error)) from error
        self._failed_loads = 0
        self._pristine = True

    # -- its emulator

    async def _launch(self, snapshot: str, *, wiped: bool = False) -> None:
        """Replace the emulator by a new one; one try."""
        await self._stop()
        self._acquire_slot()
        self._server = self._server or acquire_server(scans=False)
        launch = Launch(self._options, self._server, snapshot, wiped, avoid=self._last_port)
        self._running = running = await launch.start(self.address, self._name)
        self._last_port, self._loads = running.port, 0
        self._starts += 1
        await running.boot()
        self._pristine = True

    async def _stop(self) -> None:
        if self._running is not None:
            await self._running.stop()
            self._running = None

    def _acquire_slot(self) -> None:
        """Lock one of the `count` slots of this machine."""
        if self._options.count is None or self._slot_lock is not None:
            return
        key = find_avd(self._options.name).key
        for number in range(self._options.count):
            self._slot_lock = FileLock.acquire(f"avd-{key}-{number}")
            if self._slot_lock is not None:
                return
        raise NoEmulator(
            f"{self.address}: all {self._options.count} emulators of this AVD are in use on this machine. "
            "Raise count, or lower devices.per_worker or workers.count."
        )

    # -- calls to the phone

    async def _phone(self) -> AdbPhone:
        if self._running is None:
            await self.start()
        assert self._running is not None
        return self._running.phone

    async def _call(self, operation: str, answer: Awaitable[T]) -> T:
        """The phone's answer. The error says if its emulator has died. `NoSuchDevice` becomes `DeviceGone`: the
        emulator can be started again."""
        try:
            return await answer
        except (DeviceGone, NoSuchDevice) as error:
            if self._running is not None and not await self._running.stays_alive():
                raise self._running.death(operation) from error
            if isinstance(error, NoSuchDevice):
                raise DeviceGone(self.address, operation, str(error)) from error
            raise
