"""Checks of attached phones, for `distrl devices`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distrl.devices.adb.diagnostics import PhoneReport as PhoneReport


def look_at_phones(address: str, *, deep: bool) -> list[PhoneReport]:
    """Every phone of an `adb://` address, or one emulator of an `avd://` one, started if `deep`.

    Raises `ConfigError`."""
    if address.startswith("avd://"):
        from distrl.devices.avd.diagnostics import check_avd

        return asyncio.run(check_avd(address, deep=deep))
    from distrl.devices.adb.diagnostics import check_phones

    return asyncio.run(check_phones(address, deep=deep))


def watch_phones(address: str) -> Iterator[list[PhoneReport]]:
    """A new listing per iteration, through one adb server. Raises `ConfigError`."""
    from distrl.devices.adb.diagnostics import check_phones
    from distrl.devices.adb.options import AdbOptions
    from distrl.devices.adb.server import acquire_server, release_server

    server = acquire_server(AdbOptions.parse(address).scans)
    try:
        while True:
            yield asyncio.run(check_phones(address))
    finally:
        release_server(server)
