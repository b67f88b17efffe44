"""Counts what happens to one device and makes a `Health` of it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace

from distrl.devices.base import Condition, Describable, Device, Health, Rung
from distrl.errors import DeviceError

MAX_RECOVERY_TIMES = 100
"""Recovery times that are kept."""
MAX_REASON_CHARS = 500


class HealthRecord:
    """Condition and counters of one device, for `Health`."""

    def __init__(self, slot: int, device: str, now: Callable[[], float]) -> None:
        self._now = now
        self._health = Health(slot, device, since=now())
        self._tried: Counter[str] = Counter()
        self._helped: Counter[str] = Counter()
        self._recovery_s: deque[float] = deque(maxlen=MAX_RECOVERY_TIMES)

    def health(self, device: Device | None) -> Health:
        """A snapshot; `device` adds its current facts."""
        facts = device.facts() if isinstance(device, Describable) else self._health.facts
        self._health = replace(
            self._health,
            tried=dict(self._tried),
            helped=dict(self._helped),
            recovery_s=tuple(self._recovery_s),
            facts=dict(facts),
        )
        return self._health

    @property
    def name(self) -> str:
        return self._health.device

    @property
    def condition(self) -> Condition:
        return self._health.condition

    def set_device(self, device: Device) -> None:
        self._health = replace(self._health, device=f"{device.address}#{self._health.slot}")

    def set_condition(self, condition: Condition, *, rung: str = "", until: float = 0.0) -> None:
        self._health = replace(self._health, condition=condition, since=self._now(), rung=rung, until=until)

    def episode_lost(self, fault: DeviceError) -> None:
        self._health = replace(self._health, lost=self._health.lost + 1)
        self.set_reason(fault)

    def set_reason(self, fault: DeviceError) -> None:
        self._health = replace(self._health, reason=str(fault)[:MAX_REASON_CHARS])

    def rung_started(self, rung: Rung) -> None:
        self._tried[rung] += 1
        self.set_condition("recovering", rung=rung)

    def recovered(self, rung: Rung, took_s: float) -> None:
        self._helped[rung] += 1
        self._recovery_s.append(took_s)
        self._health = replace(self._health, recoveries=self._health.recoveries + 1)
        self.set_condition("ready")

    def quarantined(self, until: float) -> None:
        self._health = replace(self._health, quarantines=self._health.quarantines + 1)
        self.set_condition("quarantined", until=until)

    def set_probation(self, probation: bool) -> None:
        self._health = replace(self._health, probation=probation)
