"""Opens the device of an address, by URL scheme."""

from __future__ import annotations

from urllib.parse import urlsplit

from distrl.devices.base import Device
from distrl.errors import UnknownName
from distrl.registry import DEVICES, locate


def open_device(address: str, *, seed: int, name: str) -> Device:
    """The device behind a URL such as `sim://phone?latency=emulator`. Devices of one address and
    seed that differ in `name` differ in their latencies, never in what they show for a task."""
    scheme = urlsplit(address).scheme
    if not scheme:
        raise UnknownName(DEVICES.kind, address, DEVICES.names())
    device: Device = locate(DEVICES.load(scheme).implementation)(address, seed=seed, name=name)
    return device
