"""Faults of a stand-in emulator: `DISTRL_EMULATOR_FAULT=zombie,crash:2,hang-screencap=0.1`.

`@FILE` takes the faults of one launch from the first line of a file and removes that line, so that one launch can fail
and the next succeed. Any other name is a fault of the served phone inside (docs/android.md lists both).
"""

from __future__ import annotations

import fcntl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from distrl.errors import ConfigError
from distrl.phone_server import faults
from distrl.phone_server.faults import FOREVER, Faults

VARIABLE = "DISTRL_EMULATOR_FAULT"
EMULATOR: dict[str, tuple[float, str]] = {
    "crash": (0.0, "ends with status 139 so many seconds after it began to listen"),
    "never-boots": (FOREVER, "sys.boot_completed is never set"),
    "refuses": (0.0, "prints an error and ends with status 1"),
    "snapshot-hangs": (FOREVER, "the console gives no answer to `avd snapshot load`"),
    "snapshot-lies": (FOREVER, "the console reports that a snapshot is loaded; the phone never gets ready"),
    "zombie": (FOREVER, "ignores `kill` and SIGTERM; its port and a lock stay until it is killed"),
}


@dataclass(frozen=True, slots=True)
class EmulatorFaults:
    emulator: Mapping[str, float]
    """Name → seconds."""
    phone: Faults

    @classmethod
    def take(cls, environment: Mapping[str, str]) -> EmulatorFaults:
        """The faults of this launch. Raises `ConfigError`."""
        text = environment.get(VARIABLE, "")
        return cls.parse(_first_line(Path(text[1:])) if text.startswith("@") else text)

    @classmethod
    def parse(cls, text: str) -> EmulatorFaults:
        ours: dict[str, float] = {}
        others: list[str] = []
        for piece in (piece.strip() for piece in text.split(",") if piece.strip()):
            name, _, seconds = piece.partition(":")
            if name in EMULATOR:
                ours[name] = _seconds(piece, seconds) if seconds else EMULATOR[name][0]
            else:
                others.append(piece)
        if "never-boots" in ours:
            others.append(f"slow-boot=1:{FOREVER}")
        return cls(ours, faults.parse(others))


def _first_line(path: Path) -> str:
    with path.open("r+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # two emulators starting at once get one line each
        first, _, rest = file.read().partition("\n")
        file.seek(0)
        file.truncate()
        file.write(rest)
    return first


def _seconds(piece: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"{VARIABLE}={piece}: {text!r} is no number of seconds.") from None
