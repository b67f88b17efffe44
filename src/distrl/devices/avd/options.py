"""What an address asks for: `avd://Pixel_7?count=4&snapshot=clean&reset=snapshot`, and whatever `adb://` takes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit

from distrl.devices.adb.options import OPTIONS as ADB_OPTIONS
from distrl.devices.adb.options import RESETS as ADB_RESETS
from distrl.devices.adb.options import AdbOptions
from distrl.devices.avd.ports import PORTS
from distrl.errors import ConfigError, UnknownName

RESETS = (*ADB_RESETS, "snapshot")
WIPES = ("avd", "data")
OWN = ("boot_s", "count", "gpu", "load_s", "memory", "recycle", "snapshot", "window", "wipe")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
"""Never read as an option or as a way to another folder."""
GPU = re.compile(r"[a-z0-9_]+")
LONGEST_S = 3600.0
BOOT_S, LOAD_S = 180.0, 30.0
RECYCLE = 20
SOFTWARE = "swiftshader_indirect"
"""Draws without a GPU, and so on every machine."""


@dataclass(frozen=True, slots=True)
class AvdOptions:
    """Which AVD, how many of it, and how its emulators are started."""

    name: str
    adb: str
    """Options of the phone behind adb, as a query."""
    count: int | None = None
    """Emulators of this AVD on this machine at most, of all workers together. None: as many as are asked for."""
    snapshot: str = ""
    """To start from; empty boots cold."""
    loads: bool = False
    """Load the snapshot at every reset."""
    boot_s: float = BOOT_S
    """How long one start may take until the phone shows a picture."""
    load_s: float = LOAD_S
    """How long one load of a snapshot may take until the phone shows a picture."""
    recycle: int = RECYCLE
    """Start a new emulator after so many loads of a snapshot; 0 never does."""
    window: bool = False
    gpu: str = SOFTWARE
    memory: int | None = None
    """Megabytes for the phone; None: what the AVD says."""
    wipe: str = "avd"
    """avd: a wiped phone is what the AVD holds on disk. data: it is what its system image holds, without your apps."""

    @classmethod
    def parse(cls, address: str) -> AvdOptions:
        parts = urlsplit(address)
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        for key in given:
            if key not in OWN and key not in ADB_OPTIONS:
                raise UnknownName("option of avd://", key, (*OWN, *ADB_OPTIONS))
        if not NAME.fullmatch(parts.netloc) or parts.path:
            raise ConfigError(f"{address} names no AVD. Write avd://NAME as `emulator -list-avds` shows it.")
        loads, adb = _split_reset(given)
        options = cls(
            name=parts.netloc,
            adb=adb,
            count=_whole(address, given, "count", 1, len(PORTS)) if "count" in given else None,
            snapshot=_matching(address, given, "snapshot", NAME) if "snapshot" in given else "",
            loads=loads,
            boot_s=_seconds(address, given, "boot_s", BOOT_S),
            load_s=_seconds(address, given, "load_s", LOAD_S),
            recycle=_whole(address, given, "recycle", 0, 1_000_000) if "recycle" in given else RECYCLE,
            window=_whole(address, given, "window", 0, 1) == 1 if "window" in given else False,
            gpu=_matching(address, given, "gpu", GPU) if "gpu" in given else SOFTWARE,
            memory=_whole(address, given, "memory", 128, 65536) if "memory" in given else None,
            wipe=given.get("wipe", "avd"),
        )
        _check(address, options)
        return options

    def phone(self, port: int) -> str:
        """The address of the phone in the emulator on that port."""
        return f"adb://emulator-{port}" + (f"?{self.adb}" if self.adb else "")


def _split_reset(given: dict[str, str]) -> tuple[bool, str]:
    """Whether resets load the snapshot, and the query for adb."""
    reset = given.get("reset", "auto")
    if reset not in RESETS:
        raise UnknownName("reset of avd://", reset, RESETS)
    for_adb = {key: value for key, value in given.items() if key in ADB_OPTIONS}
    if reset == "snapshot":
        del for_adb["reset"]
    query = urlencode(for_adb)
    AdbOptions.parse(f"adb://emulator-5554?{query}")
    return reset == "snapshot", query


def _check(address: str, options: AvdOptions) -> None:
    if options.wipe not in WIPES:
        raise UnknownName("wipe of avd://", options.wipe, WIPES)
    if options.loads and not options.snapshot:
        raise ConfigError(f"{address}: reset=snapshot needs the name of one: add snapshot=NAME.")
    if options.snapshot and options.wipe == "data":
        raise ConfigError(f"{address}: wipe=data leaves a phone without snapshots; leave out one of the two.")


def _whole(address: str, given: dict[str, str], key: str, least: int, most: int) -> int:
    text = given[key]
    if not text.isdecimal() or not least <= int(text) <= most:
        raise ConfigError(f"{address}: {key}={text!r} must be a whole number from {least} to {most}.")
    return int(text)


def _seconds(address: str, given: dict[str, str], key: str, default: float) -> float:
    try:
        value = float(given.get(key, default))
    except ValueError:
        value = -1.0
    if not 0.0 < value <= LONGEST_S:
        raise ConfigError(f"{address}: {key}={given[key]!r} must be a number of seconds, up to {LONGEST_S:g}.")
    return value


def _matching(address: str, given: dict[str, str], key: str, pattern: re.Pattern[str]) -> str:
    if not pattern.fullmatch(given[key]):
        raise ConfigError(f"{address}: {key}={given[key]!r} is no word that an emulator takes.")
    return given[key]
