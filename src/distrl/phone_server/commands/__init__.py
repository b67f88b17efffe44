"""The little userland of the phone: as much of Android's programs as clients need."""

from __future__ import annotations

from distrl.phone_server.commands import activity, dumpsys, files, keyboards, packages, screen, system, touch
from distrl.phone_server.commands.base import Command

COMMANDS: dict[str, Command] = {
    **activity.COMMANDS,
    **dumpsys.COMMANDS,
    **files.COMMANDS,
    **keyboards.COMMANDS,
    **packages.COMMANDS,
    **screen.COMMANDS,
    **system.COMMANDS,
    **touch.COMMANDS,
}
NEEDS_SYSTEM = {
    "am": "activity", "monkey": "activity", "pm": "package", "cmd": "package", "input": "input", "wm": "window",
    "settings": "settings", "ime": "input_method", "uiautomator": "accessibility", "screencap": "SurfaceFlinger",
    "dumpsys": "activity", "svc": "power",
}  # fmt: skip
"""Program → the service that it cannot do without; there is none before the phone has booted."""
