"""What `distrl devices check` reports of a phone: state, model, latencies. Read-only."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from distrl.devices.adb import hierarchy, image_decoding, keyboard, screen_capture, window
from distrl.devices.adb.discovery import READY, make_ready, phone_states
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.phone_client import PhoneClient, call_with_timeout
from distrl.devices.adb.server import acquire_server, release_server
from distrl.errors import DeviceError, DeviceLost

ABOUT = "getprop ro.product.model; getprop ro.build.version.release; wm size"
SEARCH_S = 2.0
"""How long a new server may take to find phones."""


@dataclass(frozen=True, slots=True)
class PhoneReport:
    """One phone."""

    serial: str
    state: str
    """As adb calls it: device, offline, unauthorized …"""
    model: str = ""
    android: str = ""
    screen: str = ""
    latency_s: float | None = None
    """Round trip of one command; None without an answer."""
    problem: str = ""
    """Why it cannot be used, and what to do; empty for a usable phone."""
    unicode: bool | None = None
    """Whether ADBKeyBoard is installed, for text beyond ASCII. None: not checked."""
    seconds: dict[str, float | str] = field(default_factory=dict)
    """Operation → how long it took, or what went wrong."""


async def check_phones(address: str, *, deep: bool = False, keyboards: bool = False) -> list[PhoneReport]:
    """A report on every phone of the address. `deep` also times each way to read the screen; `keyboards` checks for
    ADBKeyBoard."""
    options = AdbOptions.parse(address)
    server = acquire_server(options.scans)
    try:
        port = await asyncio.to_thread(server.ensure)
        serials = options.serials or await _attached(port, options.call_s)
        return [await check_phone(port, serial, options.call_s, deep, keyboards or deep) for serial in serials]
    finally:
        await asyncio.to_thread(release_server, server)


async def _attached(port: int, call_s: float) -> tuple[str, ...]:
    end = time.monotonic() + SEARCH_S
    found: dict[str, str] = {}
    while not (found and all(state == READY for state in found.values())) and time.monotonic() < end:
        found = await call_with_timeout("adb://*", "list", phone_states, port, call_s)
        await asyncio.sleep(0.1)
    return tuple(sorted(found))


async def check_phone(port: int, serial: str, call_s: float, deep: bool, keyboards: bool) -> PhoneReport:
    """A report on one phone behind the adb server on that port."""
    client = PhoneClient(port, serial, call_s)
    state = ""
    try:
        until = time.monotonic() + min(SEARCH_S, call_s / 2)
        await call_with_timeout(
            client.address, "attach", lambda session: make_ready(session, serial, until), port, 2 * call_s
        )
        state = READY
        asked_at = time.perf_counter()
        text = (await client.shell("getprop", ABOUT)).text
        latency_s = time.perf_counter() - asked_at
        model, android, *rest = [*text.splitlines(), "", ""]
        size = window.parse_size("\n".join(rest))
        screen = f"{size[0]}x{size[1]}" if size else "unknown"
        unicode: bool | None = None
        if keyboards:
            unicode, _ = keyboard.parse_keyboards((await client.shell("ime list", keyboard.LIST_KEYBOARDS)).text)
        seconds = await _times(client) if deep else {}
        return PhoneReport(serial, state, model, android, screen, latency_s, unicode=unicode, seconds=seconds)
    except DeviceError as error:
        known = (await call_with_timeout("adb://*", "list", phone_states, port, call_s)).get(serial, "absent")
        return PhoneReport(serial, "unusable" if state == READY else known, problem=str(error))
    finally:
        client.close()


async def _times(client: PhoneClient) -> dict[str, float | str]:
    async def tree() -> None:
        answer = await client.shell("the UI tree", hierarchy.DUMP)
        hierarchy.parse(answer.text, (image_decoding.LARGEST_SIDE, image_decoding.LARGEST_SIDE))

    methods: dict[str, Callable[[], Awaitable[object]]] = {
        "shell": lambda: client.shell("true", "true"),
        "window": lambda: client.shell("dumpsys window", window.LOOK),
        "screencap": lambda: client.output("screencap", "screencap", image_decoding.from_raw),
        "screencap -p": lambda: client.output("screencap -p", screen_capture.PNG_SCRIPT, image_decoding.from_png),
        "uiautomator dump": tree,
    }
    found: dict[str, float | str] = {}
    for name, method in methods.items():
        before = time.perf_counter()
        try:
            await method()
            found[name] = time.perf_counter() - before
        except (image_decoding.BadPicture, hierarchy.NoTree, DeviceLost) as problem:
            found[name] = str(problem) or "no answer"
    return found
