"""The apps of the simulated phone under the names that Android gives to packages."""

from __future__ import annotations

PREFIX = "org.distrl."
ACTIVITY = ".Main"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
FAST_KEYBOARD = "com.github.uiautomator/.AdbKeyboard"
USUAL_KEYBOARD = "com.android.inputmethod.latin/.LatinIME"
KEYBOARDS = (USUAL_KEYBOARD, ADB_KEYBOARD, FAST_KEYBOARD)
SYSTEM = ("android", "com.android.systemui", *(keyboard.partition("/")[0] for keyboard in KEYBOARDS))


def package_of(app: str) -> str:
    return "com.android.systemui" if app == "os" else PREFIX + app


def app_of(package: str) -> str:
    """The app's id; empty for what is none of the simulated apps."""
    return package.removeprefix(PREFIX) if package.startswith(PREFIX) else ""
