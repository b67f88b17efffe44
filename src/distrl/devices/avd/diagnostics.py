"""What `distrl devices check avd://…` reports: starts one emulator, checks and times it, ends it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace

from distrl.devices.adb import diagnostics
from distrl.devices.adb.diagnostics import PhoneReport
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.server import acquire_server, release_server
from distrl.devices.avd.device import AvdPhone
from distrl.devices.avd.options import AvdOptions
from distrl.devices.avd.sdk import find_avd, find_sdk
from distrl.errors import DeviceError


async def check_avd(address: str, *, deep: bool) -> list[PhoneReport]:
    """A report on the AVD; `deep` starts one emulator of it and checks the phone inside."""
    options = AvdOptions.parse(address)
    try:
        find_sdk()
        find_avd(options.name, options.snapshot)
        return [await _started(address) if deep else PhoneReport(options.name, "not started")]
    except DeviceError as error:
        return [PhoneReport(options.name, "absent", problem=str(error))]


async def _started(address: str) -> PhoneReport:
    phone = AvdPhone(address, name="check/0")
    server = acquire_server(scans=False)
    try:
        before = time.perf_counter()
        await phone.start()
        taken_s = time.perf_counter() - before
        port = await asyncio.to_thread(server.ensure)
        serial = str(phone.facts()["serial"])
        call_s = AdbOptions.parse(f"adb://{serial}?{AvdOptions.parse(address).adb}").call_s
        found = await diagnostics.check_phone(port, serial, call_s, deep=True, keyboards=True)
        return replace(found, seconds={"start": taken_s, **found.seconds})
    finally:
        await phone.close()
        await asyncio.to_thread(release_server, server)
