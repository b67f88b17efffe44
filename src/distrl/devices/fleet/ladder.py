"""The ladder of recovery: which rung is tried next, its timeout, its retries with backoff, and the first rung.

A device that fails again soon after a rung helped starts one rung higher; good episodes move the start back down.
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
"""Every device has these: it is closed and opened again."""
MAX_TRIES: dict[Rung, int] = {"reconnect": 3, "reboot": 2}
"""Tries per rung and climb; 1 for all others."""
PAUSE_S = 1.0
"""Backoff before the second try; doubles with each further one."""
ABSENT_S = 5.0
"""Duration of the first quarantine of a device that is not attached."""
BOOT_RUNGS: tuple[Rung, ...] = ("retry", "snapshot", "reboot", "wipe")
"""Rungs that may wait for a boot, and so have its timeout."""
STEP_DOWN_AFTER = 3
"""Good episodes that move the first rung of the next recovery one down."""


@dataclass(frozen=True, slots=True)
class RecoveryPolicy:
    """Timeouts, the last rung allowed, and the durations of quarantines."""

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
        """The pause before each try of the rung: exponential backoff."""
        yield 0.0
        yield from (PAUSE_S * 2**again for again in range(MAX_TRIES.get(rung, 1) - 1))

    def quarantine_duration_s(self, quarantines: int, fault: DeviceError) -> float:
        """Doubles with each quarantine in a row. The first is shorter for a device that is not attached, since looking
        for it is cheap."""
        doublings = min(quarantines, 60)  # keeps the float finite
        first_s = min(self.quarantine_s, ABSENT_S) if isinstance(fault, NoSuchDevice) else self.quarantine_s
        return min(first_s * 2.0**doublings, max(self.quarantine_s, self.longest_s))

    def may_try(self, rung: Rung, device: Device | None, fault: DeviceError) -> bool:
        """Whether the device has the rung, the settings allow it, and it can help against the fault."""
        height = LADDER.index(rung)
        # A device that is not attached or not authorised can only be asked again.
        helpless = isinstance(fault, NoSuchDevice | NotAuthorized) and rung not in DEFAULT_RUNGS
        return rung in rungs_of(device) and height <= LADDER.index(self.last_rung) and not helpless


def rungs_of(device: Device | None) -> tuple[Rung, ...]:
    return device.rungs if isinstance(device, Recoverable) else DEFAULT_RUNGS


class LadderStart:
    """The first rung of the next recovery of one device."""

    def __init__(self) -> None:
        self._first = 0
        self._good_episodes = 0

    def rungs(self, fault: DeviceError) -> tuple[Rung, ...]:
        """The rungs to try for this fault, in order."""
        first = self._first if fault.blames_device else 0
        if isinstance(fault, NoSuchDevice | NotAuthorized):
            first = min(first, LADDER.index(DEFAULT_RUNGS[-1]))
        return LADDER[first:]

    def rung_helped(self, rung: Rung) -> None:
        self._first, self._good_episodes = LADDER.index(rung) + 1, 0

    def on_good_episode(self) -> None:
        self._good_episodes += 1
        if self._good_episodes % STEP_DOWN_AFTER == 0:
            self._first = max(0, self._first - 1)

    def reset(self) -> None:
        self._first = self._good_episodes = 0
