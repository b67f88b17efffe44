"""What an address asks for: `adb://emulator-5554?reset=home&tree=1`, `adb://127.0.0.1:5601-5615`, `adb://*`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from distrl.errors import ConfigError, UnknownName

ALL = "*"
RESETS = ("auto", "task", "home", "clear", "none")
OPTIONS = ("allow", "app", "call_s", "dry", "link", "popups", "reset", "settle_s", "tree", "unblock")
POPUPS = ("auto", "dismiss", "leave")
RISKS = ("call", "purchase", "reset", "sms")
STEP = 2
"""Ports between neighbours, as emulators and `distrl phone` have them."""
SERIAL = re.compile(r"[\w.:\[\]-]+")
RANGE = re.compile(r"(.+:)(\d+)-(\d+)")
EMULATOR = re.compile(r"emulator-(\d+)")
LAST_SOUGHT = 5584
"""Console of the last emulator that an adb server finds without being told."""
IN_NETWORK = re.compile(r".+:\d+")
LONGEST_S = 600.0
CALL_S = 10.0


@dataclass(frozen=True, slots=True)
class AdbOptions:
    """Which phones, and how to treat them."""

    serials: tuple[str, ...]
    """Slot k of a worker gets the k-th. Empty: whatever is attached."""
    reset: str = "auto"
    """auto: by broadcast on a served phone, else home. home: stop the app, go home. clear: erase the app's data too."""
    app: str = ""
    """Package that a reset stops and opens, unless the task names one."""
    link: str = ""
    """Address that a reset opens, unless the task names one."""
    tree: bool = False
    """Ask for the elements on every screen. Seconds on a real phone."""
    settle_s: float | None = None
    """Between an action and the next look. None: a second on a real phone, nothing on a served one."""
    call_s: float = CALL_S
    """Deadline of one call."""
    allow: tuple[str, ...] = ()
    """Packages the agent may act in; empty allows all that is not blocked."""
    unblock: frozenset[str] = frozenset()
    """Risks that are allowed after all."""
    popups: str = "auto"
    """auto: boxes of the system are answered, but on a served phone only those of apps that broke. dismiss: all of
    them. leave: none; the agent sees them."""
    dry: bool = False
    """Record what would be done, and do nothing."""

    @classmethod
    def parse(cls, address: str) -> AdbOptions:
        parts = urlsplit(address)
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        for key in given:
            if key not in OPTIONS:
                raise UnknownName("option of adb://", key, OPTIONS)
        reset = given.get("reset", "auto")
        if reset not in RESETS:
            raise UnknownName("reset of adb://", reset, RESETS)
        if given.get("popups", "auto") not in POPUPS:
            raise UnknownName("way with pop-ups of adb://", given["popups"], POPUPS)
        for risk in _listed(given, "unblock"):
            if risk not in RISKS:
                raise UnknownName("risk to unblock", risk, RISKS)
        return cls(
            serials=_serials(address, parts.netloc),
            reset=reset,
            app=given.get("app", ""),
            link=given.get("link", ""),
            tree=_switch(address, given, "tree"),
            settle_s=_seconds(address, given, "settle_s") if "settle_s" in given else None,
            call_s=_seconds(address, given, "call_s") if "call_s" in given else CALL_S,
            allow=_listed(given, "allow"),
            unblock=frozenset(_listed(given, "unblock")),
            popups=given.get("popups", "auto"),
            dry=_switch(address, given, "dry"),
        )

    @property
    def seeks(self) -> bool:
        """Whether the adb server has to look for phones: those in the network are connected to by name, and emulators
        beyond the ports that it looks at report by themselves."""
        return not self.serials or not all(in_network(serial) or _reports(serial) for serial in self.serials)


def in_network(serial: str) -> bool:
    """Whether a phone is reached with `adb connect`."""
    return IN_NETWORK.fullmatch(serial) is not None


def _reports(serial: str) -> bool:
    match = EMULATOR.fullmatch(serial)
    return match is not None and int(match[1]) > LAST_SOUGHT


def _serials(address: str, netloc: str) -> tuple[str, ...]:
    if netloc == ALL:
        return ()
    serials = tuple(serial for piece in netloc.split(",") for serial in _ports(piece))
    if not serials or not all(SERIAL.fullmatch(serial) for serial in serials):
        raise ConfigError(
            f"{address} names no phone. Write adb://SERIAL as `adb devices` shows it, adb://HOST:PORT, several with "
            "commas between them, adb://HOST:FIRST-LAST for every second port, or adb://* for all that are attached."
        )
    return serials


def _ports(piece: str) -> Iterator[str]:
    match = RANGE.fullmatch(piece)
    if match is None:
        yield piece
    else:
        yield from (f"{match[1]}{port}" for port in range(int(match[2]), int(match[3]) + 1, STEP))


def _listed(given: dict[str, str], key: str) -> tuple[str, ...]:
    return tuple(item for item in given.get(key, "").split(",") if item)


def _switch(address: str, given: dict[str, str], key: str) -> bool:
    if given.get(key, "0") not in ("0", "1"):
        raise ConfigError(f"{address}: {key}={given[key]!r} must be 0 or 1.")
    return given.get(key) == "1"


def _seconds(address: str, given: dict[str, str], key: str) -> float:
    try:
        value = float(given[key])
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= LONGEST_S:
        raise ConfigError(f"{address}: {key}={given[key]!r} must be a number of seconds from 0 to {LONGEST_S:g}.")
    return value
