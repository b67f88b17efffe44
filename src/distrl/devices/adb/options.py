"""Options of an address: `adb://emulator-5554?reset=home&tree=1`, `adb://127.0.0.1:5601-5615`, `adb://*`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar
from urllib.parse import urlsplit

from pydantic.dataclasses import dataclass

from distrl.devices.query import DOCUMENTED, Query
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
LAST_SCANNED_PORT = 5584
"""Console port of the last emulator that an adb server finds by scanning."""
IN_NETWORK = re.compile(r".+:\d+")
LONGEST_S = 600.0
CALL_S = 10.0


@dataclass(frozen=True, slots=True, config=DOCUMENTED)
class AdbOptions:
    """Phones behind adb, real or served, `adb://SERIAL`: which of them, and how to treat them."""

    implementation: ClassVar[str] = "distrl.devices.adb.device:AdbPhone"
    options: ClassVar[tuple[str, ...]] = OPTIONS

    serials: tuple[str, ...]
    """Slot k of a worker gets the k-th. Empty: all that are attached."""
    reset: str = "auto"
    """auto: by broadcast on a served phone, else home. task: by broadcast. home: stop the app, go home. clear: erase
    the app's data too. none: leave the phone as it is."""
    app: str = ""
    """Package that a reset stops and opens, unless the task names one."""
    link: str = ""
    """Address that a reset opens, unless the task names one."""
    tree: bool = False
    """Ask for the elements on every screen. Seconds on a real phone."""
    settle_s: float | None = None
    """Between an action and the next look. Left out: a second on a real phone, nothing on a served one."""
    call_s: float = CALL_S
    """Timeout of one call."""
    allow: tuple[str, ...] = ()
    """Packages the agent may act in; empty allows all that is not blocked."""
    unblock: frozenset[str] = frozenset()
    """Risks that are allowed after all: call, purchase, reset, sms."""
    popups: str = "auto"
    """Which system dialogs are dismissed. auto: all, but on a served phone only those of crashed or hung apps. dismiss:
    all. leave: none; the agent sees them."""
    dry: bool = False
    """Dry run: log what would be done, change nothing."""

    @classmethod
    def parse(cls, address: str) -> AdbOptions:
        query = Query(address, "adb://", OPTIONS)
        for risk in query.listed("unblock"):
            if risk not in RISKS:
                raise UnknownName("risk to unblock", risk, RISKS)
        return cls(
            serials=_serials(address, urlsplit(address).netloc),
            reset=query.choice("reset", "reset of adb://", RESETS),
            app=query.text("app"),
            link=query.text("link"),
            tree=query.switch("tree"),
            settle_s=query.seconds("settle_s", 0.0, LONGEST_S) if "settle_s" in query else None,
            call_s=query.seconds("call_s", CALL_S, LONGEST_S),
            allow=query.listed("allow"),
            unblock=frozenset(query.listed("unblock")),
            popups=query.choice("popups", "way with pop-ups of adb://", POPUPS),
            dry=query.switch("dry"),
        )

    @property
    def scans(self) -> bool:
        """Whether the adb server must scan for phones. Network addresses are connected to by name, and emulators on
        higher ports register themselves."""
        return not self.serials or not all(in_network(serial) or _reports(serial) for serial in self.serials)


def in_network(serial: str) -> bool:
    """Whether a phone is reached with `adb connect`."""
    return IN_NETWORK.fullmatch(serial) is not None


def _reports(serial: str) -> bool:
    match = EMULATOR.fullmatch(serial)
    return match is not None and int(match[1]) > LAST_SCANNED_PORT


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
