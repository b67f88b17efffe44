"""Simulated phones for whoever speaks ADB, served until somebody interrupts."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from distrl.errors import ConfigError

LAST_PORT = 65535

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Shelf:
    """Which phones, and where they are plugged in."""

    port: int
    """Of the first; each of the others is two further on. 0: whichever are free."""
    phones: int = 1
    device: str = "sim://phone"
    seed: int = 0
    scale: int = 1
    faults: tuple[str, ...] = ()


def serve_phones(shelf: Shelf, say: Say) -> None:
    """Serve until Ctrl-C or SIGTERM. Raises `ConfigError` and `PortTaken`."""
    asyncio.run(_serve(shelf, say))


def make_sdk(folder: Path, avd: str, device: str, say: Say) -> None:
    """Write a stand-in SDK with one AVD, and say how it is used. Raises `ConfigError`."""
    from distrl.devices.adbd.emulator.sdk import write_sdk
    from distrl.devices.avd.options import AvdOptions
    from distrl.devices.sim.options import SimOptions

    AvdOptions.parse(f"avd://{avd}")
    SimOptions.parse(device)
    for name, value in write_sdk(folder, avd, device).environment.items():
        say(f"export {name}={shlex.quote(value)}")
    say(f"distrl devices check avd://{avd}")


async def _serve(shelf: Shelf, say: Say) -> None:
    from distrl.devices.adbd import faults
    from distrl.devices.adbd.phone import LARGEST_SCALE, Model
    from distrl.devices.adbd.server import STEP, Rack

    if not 1 <= shelf.scale <= LARGEST_SCALE:
        raise ConfigError(f"--scale {shelf.scale} must be a whole number from 1 to {LARGEST_SCALE}.")
    if shelf.port + STEP * (shelf.phones - 1) > LAST_PORT:
        raise ConfigError(f"{shelf.phones} phones from port {shelf.port} on would go beyond {LAST_PORT}; begin lower.")
    model = Model(shelf.device, shelf.seed, shelf.scale, faults.parse(list(shelf.faults)))
    over = _interruption()  # before anybody hears that the phones are there, and stops them
    async with Rack(model, shelf.port, shelf.phones) as rack:
        for address in rack.addresses:
            say(f"adb connect {address}")
        await over.wait()


def _interruption() -> asyncio.Event:
    """Set by Ctrl-C and SIGTERM."""
    wanted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):  # not the main thread, or not this system
            loop.add_signal_handler(number, wanted.set)
    return wanted
