"""Serves simulated phones to ADB clients until Ctrl-C or SIGTERM."""

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
class ServeOptions:
    """How many phones to serve, on which ports, with which faults."""

    port: int
    """Port of the first phone; each next one is two higher. 0: free ports."""
    phones: int = 1
    device: str = "sim://phone"
    seed: int = 0
    scale: int = 1
    faults: tuple[str, ...] = ()


def serve_phones(options: ServeOptions, say: Say) -> None:
    """Serve until Ctrl-C or SIGTERM. Raises `ConfigError` and `PortTaken`."""
    asyncio.run(_serve(options, say))


def make_sdk(folder: Path, avd: str, device: str, say: Say) -> None:
    """Write a stand-in SDK with one AVD, and print how to use it. Raises `ConfigError`."""
    from distrl.devices.avd.options import AvdOptions
    from distrl.devices.sim.options import SimOptions
    from distrl.phone_server.emulator.sdk import write_sdk

    AvdOptions.parse(f"avd://{avd}")
    SimOptions.parse(device)
    for name, value in write_sdk(folder, avd, device).environment.items():
        say(f"export {name}={shlex.quote(value)}")
    say(f"distrl devices check avd://{avd}")


async def _serve(options: ServeOptions, say: Say) -> None:
    from distrl.phone_server import faults
    from distrl.phone_server.phone import LARGEST_SCALE, PhoneModel
    from distrl.phone_server.server import STEP, PhoneGroup

    if not 1 <= options.scale <= LARGEST_SCALE:
        raise ConfigError(f"--scale {options.scale} must be a whole number from 1 to {LARGEST_SCALE}.")
    if options.port + STEP * (options.phones - 1) > LAST_PORT:
        raise ConfigError(
            f"{options.phones} phones from port {options.port} on would go beyond {LAST_PORT}; begin lower."
        )
    model = PhoneModel(options.device, options.seed, options.scale, faults.parse(list(options.faults)))
    stopped = _stop_on_signal()  # before the addresses are printed: a reader may send SIGTERM at once
    async with PhoneGroup(model, options.port, options.phones) as rack:
        for address in rack.addresses:
            say(f"adb connect {address}")
        await stopped.wait()


def _stop_on_signal() -> asyncio.Event:
    """Set by Ctrl-C and SIGTERM."""
    wanted = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError):  # not the main thread, or not this system
            loop.add_signal_handler(number, wanted.set)
    return wanted
