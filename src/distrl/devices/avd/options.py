"""Options of an address: `avd://Pixel_7?count=4&snapshot=clean&reset=snapshot`, and all of `adb://`."""

from __future__ import annotations

import re
from typing import ClassVar
from urllib.parse import urlencode, urlsplit

from pydantic.dataclasses import dataclass

from distrl.devices.adb.options import OPTIONS as ADB_OPTIONS
from distrl.devices.adb.options import RESETS as ADB_RESETS
from distrl.devices.adb.options import AdbOptions
from distrl.devices.avd.ports import PORTS
from distrl.devices.query import DOCUMENTED, Query
from distrl.errors import ConfigError

RESETS = (*ADB_RESETS, "snapshot")
WIPES = ("avd", "data")
OWN = ("boot_s", "count", "gpu", "load_s", "memory", "recycle", "snapshot", "window", "wipe")
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
"""Cannot be read as an option or as a path."""
GPU = re.compile(r"[a-z0-9_]+")
SHORTEST_S, LONGEST_S = 0.1, 3600.0
BOOT_S, LOAD_S = 180.0, 30.0
RECYCLE = 20
SOFTWARE = "swiftshader_indirect"
"""Software rendering: works on machines without a GPU."""


@dataclass(frozen=True, slots=True, config=DOCUMENTED)
class AvdOptions:
    """Emulators that are started, `avd://NAME`: which AVD, how many of it, and how. Takes what `adb://` takes as well;
    `reset` may also be `snapshot`, which loads the snapshot at every reset."""

    implementation: ClassVar[str] = "distrl.devices.avd.device:AvdPhone"
    options: ClassVar[tuple[str, ...]] = OWN

    name: str
    adb: str
    """Options of the phone behind adb, as a query."""
    count: int | None = None
    """Emulators of this AVD on this machine at most, of all workers together. Left out: as many as are asked for."""
    snapshot: str = ""
    """To start from; empty boots cold."""
    loads: bool = False
    """Load the snapshot at every reset."""
    boot_s: float = BOOT_S
    """Timeout of a start, until the phone shows a picture."""
    load_s: float = LOAD_S
    """Timeout of loading a snapshot, until the phone shows a picture."""
    recycle: int = RECYCLE
    """Start a new emulator after this many snapshot loads; 0: never."""
    window: bool = False
    """Show the emulator's window."""
    gpu: str = SOFTWARE
    """How the emulator draws, its `-gpu`; the default needs no GPU."""
    memory: int | None = None
    """Megabytes for the phone; left out: what the AVD says."""
    wipe: str = "avd"
    """What a wiped phone starts from. avd: the AVD's disk. data: the system image, without your apps."""

    @classmethod
    def parse(cls, address: str) -> AvdOptions:
        parts = urlsplit(address)
        query = Query(address, "avd://", (*OWN, *ADB_OPTIONS))
        if not NAME.fullmatch(parts.netloc) or parts.path:
            raise ConfigError(f"{address} names no AVD. Write avd://NAME as `emulator -list-avds` shows it.")
        loads, adb = _split_reset(query)
        recycle = query.whole("recycle", 0, 1_000_000)
        options = cls(
            name=parts.netloc,
            adb=adb,
            count=query.whole("count", 1, len(PORTS)),
            snapshot=query.word("snapshot", "", NAME),
            loads=loads,
            boot_s=query.seconds("boot_s", BOOT_S, LONGEST_S, least=SHORTEST_S),
            load_s=query.seconds("load_s", LOAD_S, LONGEST_S, least=SHORTEST_S),
            recycle=RECYCLE if recycle is None else recycle,
            window=query.switch("window"),
            gpu=query.word("gpu", SOFTWARE, GPU),
            memory=query.whole("memory", 128, 65536),
            wipe=query.choice("wipe", "wipe of avd://", WIPES),
        )
        _check(address, options)
        return options

    def phone(self, port: int) -> str:
        """The address of the phone in the emulator on that port."""
        return f"adb://emulator-{port}" + (f"?{self.adb}" if self.adb else "")


def _split_reset(query: Query) -> tuple[bool, str]:
    """Whether resets load the snapshot, and the query for adb."""
    reset = query.choice("reset", "reset of avd://", RESETS)
    for_adb = {key: value for key, value in query.given.items() if key in ADB_OPTIONS}
    if reset == "snapshot":
        del for_adb["reset"]
    options = urlencode(for_adb)
    AdbOptions.parse(f"adb://emulator-5554?{options}")
    return reset == "snapshot", options


def _check(address: str, options: AvdOptions) -> None:
    if options.loads and not options.snapshot:
        raise ConfigError(f"{address}: reset=snapshot needs the name of one: add snapshot=NAME.")
    if options.snapshot and options.wipe == "data":
        raise ConfigError(f"{address}: wipe=data leaves a phone without snapshots; leave out one of the two.")
