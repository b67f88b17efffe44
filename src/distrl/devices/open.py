"""Opens the device of an address, by URL scheme."""

from __future__ import annotations

from urllib.parse import urlsplit

from distrl.devices.base import Device
from distrl.errors import UnknownName

SCHEMES = ("adb", "avd", "sim", "null")


def open_device(address: str, *, seed: int, name: str) -> Device:
    """The device behind a URL such as `sim://phone?latency=emulator`. Devices of one address and
    seed that differ in `name` differ in their latencies, never in what they show for a task."""
    scheme = urlsplit(address).scheme
    if scheme == "sim":
        from distrl.devices.sim.device import SimPhone

        return SimPhone(address, seed=seed, name=name)
    if scheme == "adb":
        from distrl.devices.adb.device import AdbPhone

        return AdbPhone(address, name=name)
    if scheme == "avd":
        from distrl.devices.avd.device import AvdPhone

        return AvdPhone(address, name=name)
    if scheme == "null":
        from distrl.devices.null import NullDevice

        return NullDevice(address)
    raise UnknownName("device scheme", scheme or address, SCHEMES)
