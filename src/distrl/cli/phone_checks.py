"""Checks of attached phones, for `distrl devices`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distrl.devices.adb.checkup import Listing as Listing


def look_at_phones(address: str, *, deep: bool) -> list[Listing]:
    """Every phone of an `adb://` address, or one emulator of an `avd://` one, started if `deep`.

    Raises `ConfigError`."""
    if address.startswith("avd://"):
        from distrl.devices.avd.checkup import try_out

        return asyncio.run(try_out(address, deep=deep))
    from distrl.devices.adb.checkup import survey

    return asyncio.run(survey(address, deep=deep))


def watch_phones(address: str) -> Iterator[list[Listing]]:
    """A new listing per iteration, through one adb server. Raises `ConfigError`."""
    from distrl.devices.adb.checkup import survey
    from distrl.devices.adb.options import AdbOptions
    from distrl.devices.adb.server import borrow, give_back

    server = borrow(AdbOptions.parse(address).seeks)
    try:
        while True:
            yield asyncio.run(survey(address))
    finally:
        give_back(server)
