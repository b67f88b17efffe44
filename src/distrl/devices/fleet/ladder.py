"""The ladder of recovery: which rung comes next, how long and how often it is tried, and where to begin.

A device that breaks again soon after a rung helped begins one rung higher; a few good episodes take it back down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import get_args

from distrl.config import DevicesConfig
from distrl.devices.base import Device, Recoverable, Rung
from distrl.errors import DeviceError, NoSuchDevice, NotAuthorized

LADDER: tuple[Rung, ...] = get_args(Rung)
DEFAULT_RUNGS: tuple[Rung, ...] = ("retry", "reconnect")
"""What every device has: it is closed and opened anew."""
MAX_TRIES: dict[Rung, int] = {"reconnect": 3, "reboot": 2}
"""How often a rung is tried in one climb; once unless it stands here."""
PAUSE_S = 1.0
"""Before a second try; twice as long before a third."""
ABSENT_S = 5.0
"""First quarantine of a device that is not there."""
BOOT_RUNGS: tuple[Rung, ...] = ("retry", "snapshot", "reboot", "wipe")
"""Rungs that may have to wait for a phone to boot."""
STEP_DOWN_AFTER = 3
"""Good episodes that take the beginning of the next recovery one rung down."""


@dataclass(frozen=True, slots=True)
class RecoveryPolicy:
    """How far recovery goes, and how long it may take."""

    command_s: float = 60.0
    boot_s: float = 300.0
    last_rung: Rung = "wipe"
    quarantine_s: float = 60.0
    longest_s: float = 3600.0

    @classmethod
    def of(cls, config: DevicesConfig) -> RecoveryPolicy:
        return cls(
            config.command_timeout_s,
            config.boot_timeout_s,
            config.last_rung,
            config.quarantine_s,
            config.quarantine_longest_s,
        )

    def deadline_s(self, rung: Rung) -> float:
        return self.boot_s if rung in BOOT_RUNGS else self.command_s

    def pauses_s(self, rung: Rung) -> Iterator[float]:
        """One for each time that the rung is tried: how long to wait before it."""
        yield 0.0
        yield from (PAUSE_S * 2**again for again in range(MAX_TRIES.get(rung, 1) - 1))

    def sentence_s(self, quarantines: int, fault: DeviceError) -> float:
        """How long a quarantine lasts after so many others in a row. Who is only not there is looked for sooner: it
        costs next to nothing, and somebody may have plugged it in again."""
        doublings = min(quarantines, 60)  # a float has room for no more
        first_s = min(self.quarantine_s, ABSENT_S) if isinstance(fault, NoSuchDevice) else self.quarantine_s
        return min(first_s * 2.0**doublings, max(self.quarantine_s, self.longest_s))

    def may_try(self, rung: Rung, device: Device | None, fault: DeviceError) -> bool:
        """Whether this device has the rung and may climb it, and whether it could help."""
        height = LADDER.index(rung)
        # Who is not there, or does not trust us, can be asked again and nothing else.
        helpless = isinstance(fault, NoSuchDevice | NotAuthorized) and rung not in DEFAULT_RUNGS
        return rung in rungs_of(device) and height <= LADDER.index(self.last_rung) and not helpless


def rungs_of(device: Device | None) -> tuple[Rung, ...]:
    return device.rungs if isinstance(device, Recoverable) else DEFAULT_RUNGS


class LadderStart:
    """Where the next recovery of one device begins."""

    def __init__(self) -> None:
        self._first = 0
        self._good = 0

    def rungs(self, fault: DeviceError) -> tuple[Rung, ...]:
        """Those that are left to try for this trouble."""
        first = self._first if fault.blames_device else 0
        if isinstance(fault, NoSuchDevice | NotAuthorized):
            first = min(first, LADDER.index(DEFAULT_RUNGS[-1]))
        return LADDER[first:]

    def helped(self, rung: Rung) -> None:
        self._first, self._good = LADDER.index(rung) + 1, 0

    def went_well(self) -> None:
        self._good += 1
        if self._good % STEP_DOWN_AFTER == 0:
            self._first = max(0, self._first - 1)

    def forget(self) -> None:
        self._first = self._good = 0
