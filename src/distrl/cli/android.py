"""The doctor's checks for Android: SDK, KVM, AVDs and attached phones. Changes nothing on a phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distrl.cli.checks import Finding
from distrl.errors import DistrlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from distrl.cli.android_checks import PhoneReport

KEYBOARD = "`adb install ADBKeyboard.apk` (https://github.com/senzhk/ADBKeyBoard): without it only ASCII can be typed."
NONE = (
    "Plug a phone in and switch on USB debugging, or start an emulator. A phone that another adb server holds "
    "cannot be seen: end that one with `adb kill-server`."
)


def emulators(address: str, deep: bool) -> list[Finding]:
    """What `avd://` needs; for other addresses checked with `deep` only, and never reported as missing."""
    needed = address.startswith("avd://")
    if not needed and not deep:
        return []
    from distrl.cli import android_checks

    looks: dict[str, Callable[[], str]] = {
        "android sdk": android_checks.find_emulator,
        "kvm": android_checks.find_acceleration,
        "avds": lambda: android_checks.find_avds(address),
    }
    found = [_look(name, look, needed) for name, look in looks.items()]
    return found if found[0].status == "ok" else found[:1]  # without an SDK the other checks say nothing


def phones(address: str, deep: bool) -> list[Finding]:
    """Attached phones: whether they are authorized and which keyboard they have. Starts no emulator."""
    if address.startswith("avd://"):
        return []
    from distrl.cli.android_checks import keyboards_of_phones

    needed = address.startswith("adb://")
    try:
        listed = keyboards_of_phones(address if needed else "adb://*")
    except DistrlError as error:
        return [_trouble("phones", str(error), needed)]
    if not listed:
        return [Finding("phones", "missing", "none attached", NONE)] if needed else []
    hopeless = needed and all(phone.problem for phone in listed)
    return [_phone(phone, hopeless) for phone in listed]


def _phone(phone: PhoneReport, hopeless: bool) -> Finding:
    name = phone.serial
    if phone.problem:
        return Finding(name, "missing" if hopeless else "warn", phone.state, phone.problem)
    described = f"{phone.model}, Android {phone.android}, {phone.screen}"
    if phone.unicode is False:
        return Finding(name, "warn", f"{described}, without ADBKeyBoard", KEYBOARD)
    return Finding(name, "ok", described)


def _look(name: str, look: Callable[[], str], needed: bool) -> Finding:
    try:
        return Finding(name, "ok", look())
    except DistrlError as error:
        return _trouble(name, str(error), needed)


def _trouble(name: str, said: str, needed: bool) -> Finding:
    """A `DistrlError` says first what is wrong and then what to do."""
    what, _, mend = said.partition(". ")
    return Finding(name, "missing" if needed else "warn", what, mend or said)
