"""A phone in an emulator of ours as a device: `avd://Pixel_7?snapshot=clean&reset=snapshot`.

The emulator is started with `-read-only`: any number of them play from one AVD, and nothing done on them reaches it.
The phone inside is an `adb://` phone like any other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar, get_args

from distrl.devices.adb.claims import Claim
from distrl.devices.adb.device import AdbPhone
from distrl.devices.adb.server import AdbServer, borrow, give_back
from distrl.devices.avd.options import AvdOptions
from distrl.devices.avd.running import Launch, Running
from distrl.devices.avd.sdk import find_avd
from distrl.devices.base import Recoverable, Rung
from distrl.errors import BootFailed, DeviceError, DeviceGone, NoEmulator, NoSuchDevice, SnapshotFailed
from distrl.types import Action, Screen, Task, Tree

T = TypeVar("T")

LADDER: tuple[Rung, ...] = get_args(Rung)
TRIES = 2
"""Starts in a row before an emulator is given up; whoever climbs the ladder starts it a few times more."""
LOST_LOADS = 2
"""Failed loads of a snapshot in a row before the snapshot is given up."""


class AvdPhone:
    """One phone, its emulator and its place among those of this machine. Started when it is first needed."""

    def __init__(self, address: str, *, seed: int = 0, name: str = "") -> None:
        self.address = address
        self._options = AvdOptions.parse(address)
        self._name = name
        self._server: AdbServer | None = None
        self._seat: Claim | None = None
        self._running: Running | None = None
        self._last_port = 0
        self._untouched = False
        """Nothing was done on it since it was started or loaded."""
        self._starts = 0
        self._loads = 0
        self._lost_loads = 0

    @property
    def rungs(self) -> tuple[Rung, ...]:
        """Those that could help: where its emulator has died, only those that start another."""
        if self._running is not None and not self._running.emulator.alive:
            return ("reboot", "wipe")
        return self._all_rungs

    @property
    def _all_rungs(self) -> tuple[Rung, ...]:
        """Those of the phone inside where it has some, and those that only an emulator has."""
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
        """Start its emulator: from the snapshot, and cold where that fails. Raises `NoEmulator`, and `BootFailed` after
        so many tries."""
        if self._running is not None and self._running.emulator.alive:
            await self._running.reconnect()
            return
        reasons: list[str] = []
        for number in range(TRIES):
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
        if self._options.loads and not self._untouched:
            phone = await self._go_back()
        self._untouched = False
        return await self._asked("reset", phone.reset(task))

    async def perform(self, action: Action) -> None:
        phone = await self._phone()
        self._untouched = False
        await self._asked("perform", phone.perform(action))

    async def screen(self) -> Screen:
        return await self._asked("screen", (await self._phone()).screen())

    async def evidence(self) -> Tree | None:
        return await self._asked("evidence", (await self._phone()).evidence())

    def facts(self) -> Tree:
        """Where it is, and how many emulators it has used up."""
        known = {"serial": f"emulator-{self._running.port}"} if self._running is not None else {}
        return {**known, "starts": self._starts}

    async def close(self) -> None:
        await self._stop()
        seat, self._seat = self._seat, None
        server, self._server = self._server, None
        if seat is not None:
            seat.give_back()
        if server is not None:
            await asyncio.to_thread(give_back, server)

    # -- ways back to health

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
            await self._asked(rung, self._running.reconnect())
        elif rung == "snapshot":
            await self._load(self._running)
        elif isinstance(self._running.phone, Recoverable):
            await self._asked(rung, self._running.phone.recover(rung))

    async def _go_back(self) -> AdbPhone:
        """To the snapshot. Where that fails a cold boot helps, once; an emulator that has loaded often is replaced."""
        if self._options.recycle and self._loads >= self._options.recycle:
            await self._launch(self._options.snapshot)
        elif self._running is not None:
            try:
                await self._load(self._running)
            except SnapshotFailed:
                self._lost_loads += 1
                if self._lost_loads >= LOST_LOADS:
                    raise
                await self._launch("")
        return await self._phone()

    async def _load(self, running: Running) -> None:
        self._loads += 1
        try:
            await running.load(self._options.snapshot, self._options.load_s)
        except DeviceError as error:
            raise SnapshotFailed(self.address, self._options.snapshot, str(error)) from error
        self._lost_loads = 0
        self._untouched = True

    # -- its emulator

    async def _launch(self, snapshot: str, *, wiped: bool = False) -> None:
        """A new one in place of that which runs, one try."""
        await self._stop()
        self._take_seat()
        self._server = self._server or borrow(seeks=False)
        launch = Launch(self._options, self._server, snapshot, wiped, avoid=self._last_port)
        self._running = running = await launch.begin(self.address, self._name)
        self._last_port, self._loads = running.port, 0
        self._starts += 1
        await running.boot()
        self._untouched = True

    async def _stop(self) -> None:
        if self._running is not None:
            await self._running.stop()
            self._running = None

    def _take_seat(self) -> None:
        """One of `count`, among all workers of this machine."""
        if self._options.count is None or self._seat is not None:
            return
        key = find_avd(self._options.name).key
        for number in range(self._options.count):
            self._seat = Claim.take(f"avd-{key}-{number}")
            if self._seat is not None:
                return
        raise NoEmulator(
            f"{self.address}: all {self._options.count} emulators of this AVD are in use on this machine. "
            "Raise count, or lower devices.per_worker or workers.count."
        )

    # -- what it is asked

    async def _phone(self) -> AdbPhone:
        if self._running is None:
            await self.start()
        assert self._running is not None
        return self._running.phone

    async def _asked(self, operation: str, answer: Awaitable[T]) -> T:
        """The phone's answer. Where its emulator has died, that is the reason to tell. A phone that adb forgot is lost
        to us and not unknown: we can start another."""
        try:
            return await answer
        except (DeviceGone, NoSuchDevice) as error:
            if self._running is not None and not await self._running.lives_on():
                raise self._running.ended(operation) from error
            if isinstance(error, NoSuchDevice):
                raise DeviceGone(self.address, operation, str(error)) from error
            raise
