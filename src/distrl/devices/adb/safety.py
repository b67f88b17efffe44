"""What an agent may not touch on a real phone, unless its owner says so.

It checks the package and activity in front before every touch and knows nothing of an app's content. It does not stop
everything: on a phone that can spend money or call people, remove the SIM and the payment methods.
"""

from __future__ import annotations

import re

from distrl.devices.adb.options import AdbOptions
from distrl.devices.adb.window import Front
from distrl.errors import ActionRefused, ConfigError
from distrl.types import Action, LongPress, Press, Swipe, Tap, Type

BLOCKED = {
    "call": re.compile(r"dialer|incallui|\.telecom|^com\.android\.phone/", re.IGNORECASE),
    "sms": re.compile(r"^com\.android\.mms|\.apps\.messaging|samsung\.android\.messaging|\.sms/", re.IGNORECASE),
    "purchase": re.compile(r"billing|purchase|checkout|payment|walletnfcrel|\.acquire", re.IGNORECASE),
    "reset": re.compile(r"^com\.android\.settings/.*(MasterClear|FactoryReset|ResetDashboard|ResetPhone)", re.I),
}
BLOCKED_LINKS = {
    "call": ("tel", "telprompt", "voicemail", "sip"),
    "sms": ("sms", "smsto", "mms", "mmsto"),
    "purchase": ("market", "upi", "bitcoin"),
}
NEVER_LINKED = ("intent", "android-app", "javascript", "file", "content")
"""Schemes that can carry any intent, or read files of the phone."""
SYSTEM = re.compile(r"^android$|systemui|permissioncontroller|packageinstaller|launcher", re.IGNORECASE)
"""Allowed also with `allow=`: an agent needs them on the way to an allowed app."""


class Guard:
    """Refuses actions, links and apps by the options of one device."""

    def __init__(self, options: AdbOptions) -> None:
        self._allow = frozenset(options.allow)
        self._blocked = {risk: pattern for risk, pattern in BLOCKED.items() if risk not in options.unblock}
        self._links = {
            scheme: risk for risk, schemes in BLOCKED_LINKS.items() for scheme in schemes if risk not in options.unblock
        }

    def check(self, action: Action, front: Front) -> None:
        """Raises `ActionRefused`. Back and home are always allowed."""
        leads_out = isinstance(action, Press) and action.key != "enter"
        if leads_out or not isinstance(action, Tap | LongPress | Swipe | Type | Press):
            return
        for component in front.components:
            for risk, pattern in self._blocked.items():
                if pattern.search(component):
                    raise ActionRefused(
                        f"{component} is in front, which may lead to a {risk}; there only back and home are done. "
                        f"Its owner can allow it with unblock={risk} in the device's address."
                    )
        if self._allow and front.package not in self._allow and not SYSTEM.search(front.package):
            raise ActionRefused(
                f"{front.package or 'an unknown app'} is in front, which is not on the list allow= of the device's "
                "address; there only back and home are done."
            )

    def check_link(self, link: str) -> None:
        """Raises `ConfigError` for a link that a reset must not open."""
        scheme = link.partition(":")[0].lower()
        if scheme in NEVER_LINKED or ":" not in link:
            raise ConfigError(f"A reset does not open {link!r}: give an address such as https://example.com.")
        if scheme in self._links:
            risk = self._links[scheme]
            raise ConfigError(f"A reset does not open {link!r}: it may lead to a {risk}. Allow it with unblock={risk}.")

    def check_app(self, package: str) -> None:
        """Raises `ConfigError` for an app that a reset must not open."""
        if self._allow and package not in self._allow:
            raise ConfigError(f"A reset does not open {package}: it is not on the list allow= of the device's address.")
