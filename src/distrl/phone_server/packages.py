"""Android package names for the apps of the simulated phone."""

from __future__ import annotations

PREFIX = "org.distrl."
ACTIVITY = ".Main"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
FAST_KEYBOARD = "com.github.uiautomator/.AdbKeyboard"
USUAL_KEYBOARD = "com.android.inputmethod.latin/.LatinIME"
KEYBOARDS = (USUAL_KEYBOARD, ADB_KEYBOARD, FAST_KEYBOARD)
SYSTEM_UI = "com.android.systemui"
SYSTEM = ("android", SYSTEM_UI, *(keyboard.partition("/")[0] for keyboard in KEYBOARDS))


def package_of(app: str) -> str:
    return SYSTEM_UI if app == "os" else PREFIX + app


def app_of(package: str) -> str:
    """The id of a simulated app, or of the system's own pages; empty for any other package."""
    if package == SYSTEM_UI:
        return "os"
    return package.removeprefix(PREFIX) if package.startswith(PREFIX) else ""
