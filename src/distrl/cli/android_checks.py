"""What this machine has for Android phones and emulators, for the doctor. Read-only; starts no emulator."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distrl.devices.adb.diagnostics import PhoneReport as PhoneReport


def keyboards_of_phones(address: str) -> list[PhoneReport]:
    """Every phone of an `adb://` address, with whether it has the keyboard for any text. Raises `ConfigError`."""
    from distrl.devices.adb.diagnostics import check_phones

    return asyncio.run(check_phones(address, keyboards=True))


def find_emulator() -> str:
    """Where the Android SDK of this machine is. Raises `NoEmulator`."""
    from distrl.devices.avd.sdk import find_sdk

    return str(find_sdk().root)


def find_acceleration() -> str:
    """The hardware acceleration for emulators. Raises `NoEmulator` if there is none."""
    from distrl.devices.avd.sdk import check_acceleration, find_sdk

    return check_acceleration(find_sdk())


def find_avds(address: str) -> str:
    """The names of this user's AVDs, that of an `avd://` address among them. Raises `NoEmulator`."""
    from distrl.devices.avd import sdk
    from distrl.devices.avd.options import AvdOptions
    from distrl.errors import NoEmulator

    if address.startswith("avd://"):
        options = AvdOptions.parse(address)
        sdk.find_avd(options.name, options.snapshot)
    names = ", ".join(sdk.find_avds())
    if not names:
        raise NoEmulator(f"There is no AVD. Make one with {sdk.MAKE_AVD.format(name='Pixel_7')}.")
    return names
