"""What phones say about themselves, and how long each way to ask takes. Looks only; touches nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from distrl.devices.adb import capture, hierarchy, keyboard, sight, window
from distrl.devices.adb.attaching import READY, make_ready, states
from distrl.devices.adb.calls import Calls, guarded
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.server import borrow, give_back
from distrl.errors import DeviceError, DeviceLost

ABOUT = "getprop ro.product.model; getprop ro.build.version.release; wm size"
SEARCH_S = 2.0
"""A server that was just started needs a moment to find phones."""


@dataclass(frozen=True, slots=True)
class Listing:
    """One phone."""

    serial: str
    state: str
    """As adb calls it: device, offline, unauthorized …"""
    model: str = ""
    android: str = ""
    screen: str = ""
    latency_s: float | None = None
    """How long it took to answer a question; None for one that did not."""
    problem: str = ""
    """Why it cannot be used, and what to do; empty for one that can."""
    unicode: bool | None = None
    """Whether ADBKeyBoard is there, for text beyond ASCII. None: not looked at."""
    seconds: dict[str, float | str] = field(default_factory=dict)
    """Operation → how long it took, or what went wrong."""


async def survey(address: str, *, deep: bool = False, keyboards: bool = False) -> list[Listing]:
    """Every phone that the address names; `deep` also tries and times each way to look at it, `keyboards` looks for the
    one that types any text."""
    options = AdbOptions.parse(address)
    server = borrow(options.seeks)
    try:
        port = await asyncio.to_thread(server.ensure)
        serials = options.serials or await _attached(port, options.call_s)
        return [await listing(port, serial, options.call_s, deep, keyboards or deep) for serial in serials]
    finally:
        await asyncio.to_thread(give_back, server)


async def _attached(port: int, call_s: float) -> tuple[str, ...]:
    end = time.monotonic() + SEARCH_S
    found: dict[str, str] = {}
    while not (found and all(state == READY for state in found.values())) and time.monotonic() < end:
        found = await guarded("adb://*", "list", states, port, call_s)
        await asyncio.sleep(0.1)
    return tuple(sorted(found))


async def listing(port: int, serial: str, call_s: float, deep: bool, keyboards: bool) -> Listing:
    """One phone behind the adb server on that port."""
    calls = Calls(port, serial, call_s)
    state = ""
    try:
        until = time.monotonic() + min(SEARCH_S, call_s / 2)
        await guarded(calls.address, "attach", lambda line: make_ready(line, serial, until), port, 2 * call_s)
        state = READY
        asked_at = time.perf_counter()
        text = (await calls.shell("getprop", ABOUT)).text
        latency_s = time.perf_counter() - asked_at
        model, android, *rest = [*text.splitlines(), "", ""]
        size = window.parse_size("\n".join(rest))
        screen = f"{size[0]}x{size[1]}" if size else "unknown"
        unicode: bool | None = None
        if keyboards:
            unicode, _ = keyboard.parse_survey((await calls.shell("ime list", keyboard.SURVEY)).text)
        seconds = await _times(calls) if deep else {}
        return Listing(serial, state, model, android, screen, latency_s, unicode=unicode, seconds=seconds)
    except DeviceError as error:
        known = (await guarded("adb://*", "list", states, port, call_s)).get(serial, "absent")
        return Listing(serial, "unusable" if state == READY else known, problem=str(error))
    finally:
        calls.close()


async def _times(calls: Calls) -> dict[str, float | str]:
    async def tree() -> None:
        answer = await calls.shell("the UI tree", hierarchy.DUMP)
        hierarchy.parse(answer.text, (capture.LARGEST_SIDE, capture.LARGEST_SIDE))

    ways: dict[str, Callable[[], Awaitable[object]]] = {
        "shell": lambda: calls.shell("true", "true"),
        "window": lambda: calls.shell("dumpsys window", window.LOOK),
        "screencap": lambda: calls.output("screencap", "screencap", capture.from_raw),
        "screencap -p": lambda: calls.output("screencap -p", sight.PNG, capture.from_png),
        "uiautomator dump": tree,
    }
    found: dict[str, float | str] = {}
    for name, way in ways.items():
        before = time.perf_counter()
        try:
            await way()
            found[name] = time.perf_counter() - before
        except (capture.BadPicture, hierarchy.NoTree, DeviceLost) as problem:
            found[name] = str(problem) or "no answer"
    return found
