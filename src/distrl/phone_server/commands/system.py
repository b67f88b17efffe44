"""System programs: getprop, settings, wm, date, and small ones that scripts use."""

from __future__ import annotations

import asyncio
import time

from distrl.phone_server.commands.base import Call, Command
from distrl.phone_server.phone import KEYBOARD_SETTING, ServedPhone

MODEL = "DistRL Phone"
DENSITY = 160
LONGEST_SLEEP_S = 3600.0


def properties(phone: ServedPhone) -> dict[str, str]:
    """The properties of an Android 14. The last ones are set at the end of the boot."""
    booted = "1" if phone.power.ready else ""
    return {
        "ro.build.version.release": "14",
        "ro.build.version.sdk": "34",
        "ro.product.brand": "distrl",
        "ro.product.cpu.abi": "x86_64",
        "ro.product.device": "distrl",
        "ro.product.manufacturer": "DistRL",
        "ro.product.model": MODEL,
        "ro.product.name": "distrl_phone",
        "ro.serialno": phone.name,
        "ro.distrl.phone": "simulated",
        "ro.sf.lcd_density": str(DENSITY * phone.model.scale),
        "persist.sys.timezone": "UTC",
        "init.svc.bootanim": "stopped" if phone.power.ready else "running",
        "dev.bootcomplete": booted,
        "sys.boot_completed": booted,
    }


async def getprop(phone: ServedPhone, call: Call) -> int:
    known = properties(phone)
    if call.args:
        call.say(known.get(call.args[0]) or (call.args[1] if len(call.args) > 1 else ""))
    else:
        for name, value in sorted(known.items()):
            call.say(f"[{name}]: [{value}]")
    return 0


async def settings(phone: ServedPhone, call: Call) -> int:
    words = [word for word in call.args if not word.startswith("--user")]
    if len(words) == 3 and words[0] == "get":
        known = {KEYBOARD_SETTING: phone.keyboard, **phone.settings}
        call.say(known.get(f"{words[1]}/{words[2]}", "null"))
        return 0
    if len(words) >= 4 and words[0] == "put":
        phone.settings[f"{words[1]}/{words[2]}"] = words[3]
        return 0
    if len(words) == 3 and words[0] == "delete":
        there = phone.settings.pop(f"{words[1]}/{words[2]}", None)
        call.say(f"Deleted {int(there is not None)} rows")
        return 0
    return call.fail("usage: settings get|put|delete NAMESPACE KEY [VALUE]", 255)


async def wm(phone: ServedPhone, call: Call) -> int:
    if call.args == ["size"]:
        width, height = phone.size
        call.say(f"Physical size: {width}x{height}")
        return 0
    if call.args == ["density"]:
        call.say(f"Physical density: {DENSITY * phone.model.scale}")
        return 0
    if call.args == ["dismiss-keyguard"]:
        return 0
    return call.fail("The simulated phone has the size it has; `wm size` and `wm density` tell it.", 255)


async def date(phone: ServedPhone, call: Call) -> int:
    form = (
        call.args[-1].removeprefix("+") if call.args and call.args[-1].startswith("+") else "%a %b %e %H:%M:%S UTC %Y"
    )
    whole = form.replace("%s", str(int(phone.power.now))).replace("%N", f"{int(phone.power.now % 1 * 1e9):09d}")
    call.say(time.strftime(whole, time.gmtime(phone.power.now)))
    return 0


async def uptime(phone: ServedPhone, call: Call) -> int:
    minutes = int(phone.power.uptime_s // 60)
    call.say(
        f" {time.strftime('%H:%M:%S', time.gmtime(phone.power.now))} up {minutes} min,  0 users,  load average: 0.00"
    )
    return 0


async def reboot(phone: ServedPhone, call: Call) -> int:
    phone.reboot()
    return 0


async def sleep(phone: ServedPhone, call: Call) -> int:
    try:
        await asyncio.sleep(min(LONGEST_SLEEP_S, max(0.0, float(call.args[0]))))
    except (IndexError, ValueError):
        return call.fail("usage: sleep SECONDS")
    return 0


async def svc(phone: ServedPhone, call: Call) -> int:
    if call.args[:2] == ["power", "reboot"]:
        phone.reboot()
    return 0


async def whoami(phone: ServedPhone, call: Call) -> int:
    call.say("shell")
    return 0


async def identity(phone: ServedPhone, call: Call) -> int:
    call.say("uid=2000(shell) gid=2000(shell)")
    return 0


async def uname(phone: ServedPhone, call: Call) -> int:
    call.say("Linux")
    return 0


async def true(phone: ServedPhone, call: Call) -> int:
    return 0


async def false(phone: ServedPhone, call: Call) -> int:
    return 1


COMMANDS: dict[str, Command] = {
    "getprop": getprop, "settings": settings, "wm": wm, "date": date, "uptime": uptime, "reboot": reboot,
    "sleep": sleep, "svc": svc, "whoami": whoami, "id": identity, "uname": uname, "true": true, "false": false,
    ":": true, "logcat": true,
}  # fmt: skip
