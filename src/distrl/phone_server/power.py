"""Boot, freeze, uptime and clock of a served phone."""

from __future__ import annotations

import time
from collections.abc import Callable

from distrl.phone_server.faults import FOREVER, FaultInjector

Clock = Callable[[], float]
"""Monotonic seconds."""


class Power:
    def __init__(self, fault_injector: FaultInjector, clock: Clock) -> None:
        self._fault_injector = fault_injector
        self._clock = clock
        self.awake = True
        self.boot()

    def boot(self) -> None:
        """Boot, with the faults drawn for a boot."""
        faults = self._fault_injector.draw("boot")
        self.awake = True
        self._booted_at = self._clock()
        self._ready_at = self._booted_at + faults.get("slow-boot", 0.0)
        self._frozen_at = self._frozen_until = 0.0
        self._ahead_s = faults.get("clock-off", 0.0)
        self.storage_full = "storage-full" in faults

    @property
    def ready(self) -> bool:
        """Whether it has booted and its services are available."""
        return self._clock() >= self._ready_at

    def stall(self) -> None:
        """Make its services unavailable until the next boot."""
        self._ready_at = FOREVER

    def freeze(self, seconds: float) -> None:
        self._frozen_at = self._clock()
        self._frozen_until = self._frozen_at + seconds

    @property
    def frozen(self) -> bool:
        return self._clock() < self._frozen_until

    @property
    def uptime_s(self) -> float:
        return (self._frozen_at if self.frozen else self._clock()) - self._booted_at

    @property
    def now(self) -> float:
        """Its own clock, in seconds since 1970."""
        return time.time() + self._ahead_s
