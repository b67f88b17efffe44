"""A phone's time: since when it runs, whether it has booted, whether it stands still, what its clock says."""

from __future__ import annotations

import time
from collections.abc import Callable

from distrl.phone_server.faults import FOREVER, FaultInjector

Clock = Callable[[], float]
"""Seconds that only grow."""


class Power:
    def __init__(self, dice: FaultInjector, clock: Clock) -> None:
        self._dice = dice
        self._clock = clock
        self.awake = True
        self.boot()

    def boot(self) -> None:
        """Start anew, with whatever strikes a phone while it boots."""
        struck = self._dice.drawn("boot")
        self.awake = True
        self._booted_at = self._clock()
        self._ready_at = self._booted_at + struck.get("slow-boot", 0.0)
        self._frozen_at = self._frozen_until = 0.0
        self._ahead_s = struck.get("clock-off", 0.0)
        self.storage_full = "storage-full" in struck

    @property
    def ready(self) -> bool:
        """Its services are there."""
        return self._clock() >= self._ready_at

    def stall(self) -> None:
        """Be without services until the next boot."""
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
