"""What a caretaker writes down about its device. A `Health` is one page of it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace

from distrl.devices.base import Condition, Describable, Device, Health, Rung
from distrl.errors import DeviceError

REMEMBERED = 100
"""Recoveries whose length is kept."""
LONGEST_REASON = 500


class HealthRecord:
    """Counts and condition of one device."""

    def __init__(self, slot: int, device: str, now: Callable[[], float]) -> None:
        self._now = now
        self._page = Health(slot, device, since=now())
        self._tried: Counter[str] = Counter()
        self._helped: Counter[str] = Counter()
        self._recovery_s: deque[float] = deque(maxlen=REMEMBERED)

    def page(self, device: Device | None) -> Health:
        """How it is now."""
        facts = device.facts() if isinstance(device, Describable) else self._page.facts
        self._page = replace(
            self._page,
            tried=dict(self._tried),
            helped=dict(self._helped),
            recovery_s=tuple(self._recovery_s),
            facts=dict(facts),
        )
        return self._page

    @property
    def name(self) -> str:
        return self._page.device

    @property
    def condition(self) -> Condition:
        return self._page.condition

    def named(self, device: Device) -> None:
        self._page = replace(self._page, device=f"{device.address}#{self._page.slot}")

    def turned(self, condition: Condition, *, rung: str = "", until: float = 0.0) -> None:
        self._page = replace(self._page, condition=condition, since=self._now(), rung=rung, until=until)

    def lost(self, fault: DeviceError) -> None:
        self._page = replace(self._page, lost=self._page.lost + 1)
        self.ails(fault)

    def ails(self, fault: DeviceError) -> None:
        self._page = replace(self._page, reason=str(fault)[:LONGEST_REASON])

    def tries(self, rung: Rung) -> None:
        self._tried[rung] += 1
        self.turned("recovering", rung=rung)

    def recovered(self, rung: Rung, took_s: float) -> None:
        self._helped[rung] += 1
        self._recovery_s.append(took_s)
        self._page = replace(self._page, recoveries=self._page.recoveries + 1)
        self.turned("ready")

    def quarantined(self, until: float) -> None:
        self._page = replace(self._page, quarantines=self._page.quarantines + 1)
        self.turned("quarantined", until=until)

    def on_probation(self, probation: bool) -> None:
        self._page = replace(self._page, probation=probation)
