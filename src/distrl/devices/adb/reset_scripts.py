"""The shell script that brings a phone into a task's start state.

The task's parameters `package`, `link` and `reset` take precedence over the options of the address.
"""

from __future__ import annotations

import re

from distrl.devices.adb.connection import join_commands
from distrl.devices.adb.gestures import WAKE
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.safety import Guard
from distrl.errors import ConfigError
from distrl.types import Task

HOME = ["input", "keyevent", "3"]
UNLOCK = "wm dismiss-keyguard 2>/dev/null"
"""Fails on older phones and on phones with a PIN."""
PACKAGE = re.compile(r"[A-Za-z][\w.]*")


def package_of(options: AdbOptions, task: Task) -> str:
    """The app of the task, else of the address; may be empty. Raises `ConfigError` for an invalid name."""
    package = str(task.params.get("package") or options.app)
    if package and not PACKAGE.fullmatch(package):
        raise ConfigError(f"{package!r} is no name of a package; `adb shell pm list packages` lists them.")
    return package


def reset_script(options: AdbOptions, task: Task, guard: Guard) -> str:
    """Wake and unlock, stop the app (and clear its data), go home, open the task's page."""
    package = package_of(options, task)
    link = str(task.params.get("link") or options.link)
    found: list[list[str]] = []
    if package:
        guard.check_app(package)
        found.append(["am", "force-stop", package])
        if requested_reset(options, task) == "clear":
            found.append(["pm", "clear", package])
    found.append(HOME)
    if link:
        guard.check_link(link)
        view = ["am", "start", "-W", "-a", "android.intent.action.VIEW", "-d", link]
        found.append([*view, "-p", package] if package else view)
    elif package:
        found.append(["monkey", "-p", package, "-c", "android.intent.category.LAUNCHER", "1"])
    return f"{join_commands([WAKE])}; {UNLOCK}; {join_commands(found)}"


def reset_plan(options: AdbOptions, task: Task, *, served: bool) -> tuple[bool, str]:
    """Whether to load the task's state into the phone, which only a served one supports, and the reset to do then."""
    recipe = requested_reset(options, task)
    if recipe == "auto":
        named = bool(task.params.get("package") or task.params.get("link"))
        return served, "home" if named or not served else "none"
    return recipe == "task", "none" if recipe == "task" else recipe


def requested_reset(options: AdbOptions, task: Task) -> str:
    return str(task.params.get("reset") or options.reset)
