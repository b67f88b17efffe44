"""A running emulator and the phone in it: start, wait until ready, reconnect, stop."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from distrl.devices.adb.device import AdbPhone
from distrl.devices.adb.file_lock import FileLock
from distrl.devices.adb.server import AdbServer
from distrl.devices.avd import clones, console
from distrl.devices.avd.adb_registration import is_listening, reconnect, register
from distrl.devices.avd.emulator import Emulator, command, environment
from distrl.devices.avd.options import AvdOptions
from distrl.devices.avd.ports import claim_ports, end_orphans
from distrl.devices.avd.sdk import Avd, find_avd, find_sdk, known_options
from distrl.errors import DeviceError, DeviceGone

POLL_S = 0.3
RECONNECT_S = 20.0
EXIT_DELAY_S = 1.0
"""How long an emulator may live on after its connections closed."""
START_LOCK_S = 30.0
"""Longest wait for the console before the next emulator of this AVD may start."""


@dataclass(frozen=True, slots=True)
class Launch:
    """How one emulator is to be started."""

    options: AvdOptions
    server: AdbServer
    snapshot: str = ""
    wiped: bool = False
    """With an empty disk, in a clone of the AVD."""
    avoid: int = 0
    """A port that was just in use and may not be free yet."""

    async def start(self, address: str, name: str) -> RunningEmulator:
        """Start the process; the phone is not ready yet. Raises `NoEmulator`."""
        sdk, avd = find_sdk(), find_avd(self.options.name, self.snapshot)
        server_port = await asyncio.to_thread(self.server.ensure)
        known = await asyncio.to_thread(known_options, sdk.emulator)
        await asyncio.to_thread(end_orphans)
        lock = await _start_lock(avd)
        try:
            ports = claim_ports(avoid=(self.avoid,))
            clone = clones.make_clone(avd, ports.port) if self.wiped else None
            words = command(sdk, self.options, ports.port, known, snapshot=self.snapshot, wiped=self.wiped)
            emulator = Emulator(ports, clone or avd, words, environment(sdk, clone or avd, server_port))
        except BaseException:  # also when cancelled: the next emulator waits for this lock
            lock.release()
            raise
        phone = AdbPhone(self.options.phone(emulator.port), name=name)
        return RunningEmulator(address, emulator, phone, self, clone, lock)


async def _start_lock(avd: Avd) -> FileLock:
    """Emulators of one AVD start one at a time, since they lock the same files at their start."""
    while (lock := FileLock.acquire(f"avd-start-{avd.key}")) is None:
        await asyncio.sleep(POLL_S)
    return lock


class RunningEmulator:
    """Owns the emulator and the phone."""

    def __init__(
        self, address: str, emulator: Emulator, phone: AdbPhone, launch: Launch, clone: Avd | None, lock: FileLock
    ) -> None:
        self.emulator = emulator
        self.phone = phone
        self._address, self._launch, self._clone, self._start_lock = address, launch, clone, lock
        self._boot_until = time.monotonic() + launch.options.boot_s

    @property
    def port(self) -> int:
        return self.emulator.port

    async def boot(self) -> None:
        """Wait until the phone is ready. Raises `DeviceError`."""
        await self._wait_for_console()
        await self._wait_until_ready(max(POLL_S, self._boot_until - time.monotonic()))
        self.emulator.record_members()

    async def load(self, snapshot: str, within_s: float) -> None:
        """Load a snapshot; done once the phone shows a picture. Raises `DeviceError`."""
        self._check_alive("loading a snapshot")
        await console.ask(self.port, f"avd snapshot load {snapshot}", within_s)
        await self.phone.close()  # its state is that of before the load
        await self._wait_until_ready(within_s)

    async def reconnect(self) -> None:
        """Connect to the phone again; a starting one gets the rest of its boot timeout. Raises `DeviceError`."""
        self._check_alive("reconnecting")
        await self.phone.close()
        await asyncio.to_thread(reconnect, self._launch.server, self.port)
        await self._wait_until_ready(max(RECONNECT_S, self._boot_until - time.monotonic()))

    async def stop(self) -> None:
        """End it, by force if need be."""
        self._start_lock.release()
        try:
            await self.phone.close()
        finally:
            await asyncio.to_thread(self.emulator.stop)
            if self._clone is not None:
                await asyncio.to_thread(clones.remove_clone, self._clone)

    async def stays_alive(self) -> bool:
        """Whether the emulator still runs a moment after its connection closed."""
        until = time.monotonic() + EXIT_DELAY_S
        while self.emulator.alive and time.monotonic() < until:
            await asyncio.sleep(EXIT_DELAY_S / 20)
        return self.emulator.alive

    def death(self, operation: str) -> DeviceGone:
        return DeviceGone(self._address, operation, f"its emulator ended: {self.emulator.log_tail()}")

    def _check_alive(self, operation: str) -> None:
        if not self.emulator.alive:
            raise self.death(operation)

    async def _wait_for_console(self) -> None:
        """Once the console listens the AVD has been read, and the next emulator may start."""
        until = min(self._boot_until, time.monotonic() + START_LOCK_S)
        while self.emulator.alive and time.monotonic() < until and not is_listening(self.port):
            await asyncio.sleep(POLL_S)
        self._start_lock.release()

    async def _wait_until_ready(self, within_s: float) -> None:
        """Until it has booted and shows a picture that is not black."""
        until = time.monotonic() + within_s
        reason = "its screen was not read."
        while self.emulator.alive and time.monotonic() < until:
            try:
                async with asyncio.timeout(max(POLL_S, until - time.monotonic())):
                    await asyncio.to_thread(register, self._launch.server, self.port)
                    if "black" not in (await self.phone.screen()).flags:
                        return
                reason = "its screen is black."
            except TimeoutError:
                reason = "it gives no answer."
            except DeviceError as error:
                reason = str(error)
                await self.phone.close()  # connect again, and check the boot again
            await asyncio.sleep(POLL_S)
        self._check_alive("starting")
        raise DeviceError(f"{self._address} was not ready within {within_s:.0f} s: {reason} Log: {self.emulator.log}.")
