"""Devices that break as they are told, and a caretaker for them on a virtual clock."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from toy import ToyDevice

from distrl.devices.base import Health, Rung
from distrl.devices.fleet.ladder import RecoveryPolicy
from distrl.devices.fleet.supervisor import DeviceSupervisor
from distrl.errors import DeviceError
from distrl.runtime.clock import run_virtually
from distrl.types import Screen

CARE = RecoveryPolicy(command_s=5.0, boot_s=30.0, quarantine_s=60.0, longest_s=200.0)
PHONE: tuple[Rung, ...] = ("retry", "reconnect", "restart helper", "force-stop app", "reboot", "wipe")
TROUBLE = DeviceError("it broke")


class Patient(ToyDevice):
    """Recoverable. Well when it is opened; later `cure` is the first rung that helps; None: no rung does."""

    def __init__(self, cure: Rung | None = "retry", rungs: tuple[Rung, ...] = PHONE) -> None:
        super().__init__("toy://patient")
        self.rungs = rungs
        self.cure = cure
        self.climbed: list[Rung] = []
        self.proved = False

    async def recover(self, rung: Rung) -> None:
        if not self.proved:
            self.proved = True
            return
        await self.treat(rung)

    async def treat(self, rung: Rung) -> None:
        self.climbed.append(rung)
        if self.cure is None or rung not in self.rungs[self.rungs.index(self.cure) :]:
            raise DeviceError(f"{rung} did not help")

    def facts(self) -> dict[str, Any]:
        return {"serial": "p"}


class Blind(ToyDevice):
    """Not recoverable; shows no picture the first so many times."""

    def __init__(self, failures: int) -> None:
        super().__init__("toy://blind")
        self.failures = failures

    async def screen(self) -> Screen:
        if self.failures:
            self.failures -= 1
            raise DeviceError("no picture")
        return await super().screen()


class Notes:
    """A herald that remembers."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.details: list[str] = []
        self.pages: list[Health] = []

    async def event(self, kind: str, detail: str) -> None:
        self.events.append(kind)
        self.details.append(detail)

    async def health(self, health: Health) -> None:
        self.pages.append(health)


def tended(
    open_device: Callable[[], Any],
    scene: Callable[[DeviceSupervisor, Any], Coroutine[Any, Any, Any]],
    care: RecoveryPolicy = CARE,
    notes: Notes | None = None,
) -> Any:
    """What a scene with a caretaker and the loop returns, without waiting for anything."""

    async def main(loop: Any) -> Any:
        async def opened() -> Any:
            return open_device()

        keeper = DeviceSupervisor(3, "toy://x", opened, care, notes or Notes(), now=loop.time)
        try:
            return await scene(keeper, loop)
        finally:
            await keeper.close()

    return run_virtually(main)
