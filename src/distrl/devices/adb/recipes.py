"""How a phone comes into the start state of a task.

A task of a suite for real phones names its app, where to begin and how to get there in its parameters: `package`,
`link`, `reset`. They go before the options of the address.
"""

from __future__ import annotations

import re

from distrl.devices.adb.gestures import WAKE
from distrl.devices.adb.line import joined
from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.safety import Guard
from distrl.errors import ConfigError
from distrl.types import Task

HOME = ["input", "keyevent", "3"]
UNLOCK = "wm dismiss-keyguard 2>/dev/null"
"""Older phones cannot; a phone with a PIN will not."""
PACKAGE = re.compile(r"[A-Za-z][\w.]*")


def package_of(options: AdbOptions, task: Task) -> str:
    """The app that a task is about; empty where it names none. Raises `ConfigError` for what is no name."""
    package = str(task.params.get("package") or options.app)
    if package and not PACKAGE.fullmatch(package):
        raise ConfigError(f"{package!r} is no name of a package; `adb shell pm list packages` lists them.")
    return package


def script(options: AdbOptions, task: Task, guard: Guard) -> str:
    """From whatever is shown to the task's first page: awake, the app stopped (and emptied), home, the page opened."""
    package = package_of(options, task)
    link = str(task.params.get("link") or options.link)
    found: list[list[str]] = []
    if package:
        guard.check_app(package)
        found.append(["am", "force-stop", package])
        if wanted(options, task) == "clear":
            found.append(["pm", "clear", package])
    found.append(HOME)
    if link:
        guard.check_link(link)
        view = ["am", "start", "-W", "-a", "android.intent.action.VIEW", "-d", link]
        found.append([*view, "-p", package] if package else view)
    elif package:
        found.append(["monkey", "-p", package, "-c", "android.intent.category.LAUNCHER", "1"])
    return f"{joined([WAKE])}; {UNLOCK}; {joined(found)}"


def plan(options: AdbOptions, task: Task, *, served: bool) -> tuple[bool, str]:
    """Whether the phone is loaded with the task's state, which a served one can be, and the recipe to follow then."""
    recipe = wanted(options, task)
    if recipe == "auto":
        named = bool(task.params.get("package") or task.params.get("link"))
        return served, "home" if named or not served else "none"
    return recipe == "task", "none" if recipe == "task" else recipe


def wanted(options: AdbOptions, task: Task) -> str:
    return str(task.params.get("reset") or options.reset)
