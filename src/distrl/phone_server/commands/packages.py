"""`pm`, `cmd`, `ps` and `pidof`: the installed apps and their processes."""

from __future__ import annotations

from distrl.phone_server.commands.base import Call, Command
from distrl.phone_server.packages import ACTIVITY, SYSTEM, SYSTEM_UI, app_of, package_of
from distrl.phone_server.phone import ServedPhone

FIRST_PID = 4000
NOT_INSTALLED = "Failure [INSTALL_FAILED_INTERNAL_ERROR: the simulated phone has the apps it came with and no others]"


async def pm(phone: ServedPhone, call: Call) -> int:
    name, args = (call.args[0], call.args[1:]) if call.args else ("", [])
    packages = [package_of(app) for app in phone.apps]
    last = args[-1] if args else ""
    if name == "list" and args[:1] == ["packages"]:
        wanted = [] if "-3" in args else list(SYSTEM)
        text = "" if last.startswith("-") or len(args) == 1 else last
        for package in sorted({*packages, *wanted}):
            if text in package:
                call.say(f"package:{package}")
        return 0
    if name == "path":
        if last not in (*packages, *SYSTEM):
            return 1
        call.say(f"package:/data/app/{last}/base.apk")
        return 0
    if name == "clear":
        if app_of(last) not in phone.apps:
            call.say("Failed")
            return 1
        phone.clear_app(app_of(last))
        call.say("Success")
        return 0
    if name in ("grant", "revoke", "enable", "disable-user", "trim-caches", "disable"):
        if name == "trim-caches":
            phone.files.full = False
        return 0
    if name in ("install", "install-create", "uninstall"):
        call.say(NOT_INSTALLED if name != "uninstall" else "Failure [DELETE_FAILED_INTERNAL_ERROR]")
        return 1
    if name == "resolve-activity":
        call.say(f"{last}/{ACTIVITY}")
        return 0
    return call.fail(f"Unknown command: {name}", 255)


async def cmd(phone: ServedPhone, call: Call) -> int:
    """The newer way to say `pm`."""
    if call.args[:1] == ["package"]:
        call.args.pop(0)
        return await pm(phone, call)
    return call.fail(f"cmd: Can't find service: {' '.join(call.args[:1])}", 20)


async def ps(phone: ServedPhone, call: Call) -> int:
    call.say("USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME")
    for name, pid in _processes(phone).items():
        call.say(f"u0_a{pid - FIRST_PID:<8} {pid:>5}   300 1200000  80000 do_epoll_wait       0 S {name}")
    return 0


async def pidof(phone: ServedPhone, call: Call) -> int:
    found = [str(_processes(phone)[name]) for name in call.args if name in _processes(phone)]
    if found:
        call.say(" ".join(found))
    return 0 if found else 1


def _processes(phone: ServedPhone) -> dict[str, int]:
    names = ["system_server", SYSTEM_UI, *(package_of(app) for app in sorted(phone.running))]
    pids = {package_of(app): FIRST_PID + 100 + index for index, app in enumerate(sorted(phone.apps))}
    return {name: pids.get(name, FIRST_PID + index) for index, name in enumerate(dict.fromkeys(names))}


COMMANDS: dict[str, Command] = {"pm": pm, "cmd": cmd, "ps": ps, "pidof": pidof}
