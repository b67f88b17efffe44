"""The device protocol, its optional capabilities, and device health."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from distrl.types import Action, Screen, Task, Tree

Rung = Literal["retry", "reconnect", "restart helper", "force-stop app", "snapshot", "reboot", "wipe"]
"""The recovery ladder, gentlest rung first. After the last one comes quarantine."""

Condition = Literal["ready", "playing", "recovering", "quarantined"]


class Device(Protocol):
    """One phone with one owner. Every method raises `DeviceLost` when the phone stops answering."""

    address: str

    async def reset(self, task: Task) -> Screen:
        """Bring the phone into the task's start state and return what it shows."""

    async def perform(self, action: Action) -> None:
        """Do one action. `Invalid`, `Wait` and the actions that end an episode change nothing.

        Raises `ActionRefused` for what this device may not or cannot do; then nothing was done."""

    async def screen(self) -> Screen: ...

    async def close(self) -> None: ...


@runtime_checkable
class Inspectable(Protocol):
    """A device whose state a rule judge may read."""

    async def evidence(self) -> Tree | None:
        """{"before": state tree after reset, "after": state tree now}, both plain copies; None where the
        state cannot be read. Raises `DeviceLost`."""


@runtime_checkable
class Recoverable(Protocol):
    """A device with recovery rungs beyond being closed and opened again."""

    rungs: tuple[Rung, ...]
    """The rungs that this device has, in the order of the ladder."""

    async def recover(self, rung: Rung) -> None:
        """Run one rung; returns once the device answers and shows a picture. Raises `DeviceError` when it did not
        help."""


@runtime_checkable
class Describable(Protocol):
    """A device that reports facts about itself, such as its serial."""

    def facts(self) -> Tree:
        """Plain, small and slowly changing: `serial`, `clock_offset_s`, `popups` … No I/O; never raises."""


@dataclass(frozen=True, slots=True)
class Health:
    """Condition of the device of one slot, and counts of failures and recoveries. Times are in the worker's clock."""

    slot: int
    device: str
    """Address and slot, as in a trajectory."""
    condition: Condition = "ready"
    since: float = 0.0
    rung: str = ""
    """The rung being tried, while recovering."""
    reason: str = ""
    """Its latest fault; empty if there was none."""
    until: float = 0.0
    """When the quarantine ends."""
    probation: bool = False
    """After a quarantine, until a few episodes went well: one failed episode means quarantine again."""
    lost: int = 0
    """Episodes lost through this device."""
    quarantines: int = 0
    recoveries: int = 0
    recovery_s: tuple[float, ...] = ()
    """Durations of the latest recoveries, from fault to picture, quarantines included; newest last."""
    tried: Mapping[str, int] = field(default_factory=dict)
    """Rung → number of tries."""
    helped: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """See `Describable.facts`."""

    @property
    def eventful(self) -> bool:
        """Whether there is anything to report beyond its trajectories."""
        return bool(self.facts or self.lost or self.tried)
