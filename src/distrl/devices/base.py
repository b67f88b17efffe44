"""What a device is to the rest of the house."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from distrl.types import Action, Screen, Task, Tree

Rung = Literal["retry", "reconnect", "restart helper", "force-stop app", "snapshot", "reboot", "wipe"]
"""The ladder of recovery, gentlest first. Beyond the last rung there is quarantine."""


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
