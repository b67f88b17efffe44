"""Programs that look at the screen: screencap and uiautomator."""

from __future__ import annotations

import asyncio

from distrl.phone_server.capture import capture, png, raw
from distrl.phone_server.commands.base import Call, Command
from distrl.phone_server.files import FileProblem
from distrl.phone_server.hierarchy import dump
from distrl.phone_server.phone import ServedPhone, pause

DEFAULT_DUMP = "/sdcard/window_dump.xml"
TERMINAL = "/dev/tty"


async def screencap(phone: ServedPhone, call: Call) -> int:
    as_png, paths = False, []
    waiting = list(call.args)
    while waiting:
        arg = waiting.pop(0)
        if arg == "-d":
            waiting[:1] = []
        elif arg == "-p":
            as_png = True
        else:
            paths.append(arg)
    as_png = as_png or any(path.endswith(".png") for path in paths)
    data = await capture(phone, png if as_png else raw)
    if not paths:
        call.out += data
        return 0
    try:
        phone.files.write(paths[0], data, int(phone.power.now))
    except FileProblem as problem:
        return call.fail(f"Error opening file: {paths[0]} ({problem})")
    return 0


async def uiautomator(phone: ServedPhone, call: Call) -> int:
    if call.args[:1] != ["dump"]:
        return call.fail("Usage: uiautomator dump [--compressed] [file]")
    paths = [arg for arg in call.args[1:] if not arg.startswith("--")]
    path = paths[0] if paths else DEFAULT_DUMP
    faults = phone.fault_injector.draw("dump")
    await pause(faults.get("hang-dump", 0.0))
    if "not-idle-dump" in faults:
        call.write_error("ERROR: could not get idle state.")
        return 0  # as the real one does
    text = dump(phone)
    if path == TERMINAL:
        call.out += text.encode()
    else:
        try:
            phone.files.write(path, text.encode(), int(phone.power.now))
        except FileProblem as problem:
            return call.fail(f"ERROR: {path}: {problem}")
    call.say(f"UI hierchary dumped to: {path}")
    return 0


async def app_process(phone: ServedPhone, call: Call) -> int:
    """The server of uiautomator2: it listens until the client that started it disconnects."""
    if "com.wetest.uia2.Main" not in call.args:
        return call.fail("app_process: this phone runs no Java; it knows the server of uiautomator2 only.")
    port = int(call.args[call.args.index("-p") + 1]) if "-p" in call.args else 9008
    phone.automators.add(port)
    try:
        await asyncio.Event().wait()
    finally:
        phone.automators.discard(port)
    return 0


COMMANDS: dict[str, Command] = {"screencap": screencap, "uiautomator": uiautomator, "app_process": app_process}
