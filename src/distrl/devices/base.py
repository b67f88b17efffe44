"""What a device is to the rest of the house."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from distrl.types import Action, Screen, Task, Tree

Rung = Literal["retry", "reconnect", "restart helper", "force-stop app", "snapshot", "reboot", "wipe"]
"""The ladder of recovery, gentlest first. Beyond the last rung there is quarantine."""

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
    """A device whose inner state a rule judge may be able to read."""

    async def evidence(self) -> Tree | None:
        """{"before": state tree after reset, "after": state tree now}, both plain and unshared; None where this phone
        keeps its state to itself. Raises `DeviceLost` like every other question."""


@runtime_checkable
class Recoverable(Protocol):
    """A device that knows more ways back to health than being opened anew."""

    rungs: tuple[Rung, ...]
    """Those that this device has, in the order of the ladder."""

    async def recover(self, rung: Rung) -> None:
        """Do what the rung says and come back once the device answers and shows a picture. Raises `DeviceError` when it
        did not help; the next rung may."""


@runtime_checkable
class Describable(Protocol):
    """A device that knows something about itself that its owner may want to see."""

    def facts(self) -> Tree:
        """Plain, small and steady: `serial`, `clock_offset_s`, `popups` … Asks the phone nothing, so it never fails."""


@dataclass(frozen=True, slots=True)
class Health:
    """How the device of one slot is, and all that was done for it. Times are seconds of the worker's clock."""

    slot: int
    device: str
    """Address and slot, as in a trajectory."""
    condition: Condition = "ready"
    since: float = 0.0
    rung: str = ""
    """Which one is being tried, while it recovers."""
    reason: str = ""
    """Its newest trouble; empty for a device that never had any."""
    until: float = 0.0
    """When a quarantine ends."""
    probation: bool = False
    """It came back from quarantine and has not proved itself yet: one bad episode, and it goes there again."""
    lost: int = 0
    """Episodes that it cost."""
    quarantines: int = 0
    recoveries: int = 0
    recovery_s: tuple[float, ...] = ()
    """How long the newest recoveries took, from trouble to proof of health, quarantines and all; newest last."""
    tried: Mapping[str, int] = field(default_factory=dict)
    """Rung → how often."""
    helped: Mapping[str, int] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the device tells of itself."""

    @property
    def eventful(self) -> bool:
        """Whether there is anything to tell that its trajectories do not."""
        return bool(self.facts or self.lost or self.tried)
