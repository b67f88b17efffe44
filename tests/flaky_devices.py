"""Devices that fail on purpose, and a supervisor for them on a virtual clock."""

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


class FlakyDevice(ToyDevice):
    """Recoverable. It works when opened; later `cure` is the first rung that helps, None: no rung does."""

    def __init__(self, cure: Rung | None = "retry", rungs: tuple[Rung, ...] = PHONE) -> None:
        super().__init__("toy://flaky")
        self.rungs = rungs
        self.cure = cure
        self.climbed: list[Rung] = []
        self.proved = False

    async def recover(self, rung: Rung) -> None:
        if not self.proved:
            self.proved = True
            return
        await self.try_rung(rung)

    async def try_rung(self, rung: Rung) -> None:
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
    """A reporter that records."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.details: list[str] = []
        self.pages: list[Health] = []

    async def event(self, kind: str, detail: str) -> None:
        self.events.append(kind)
        self.details.append(detail)

    async def health(self, health: Health) -> None:
        self.pages.append(health)


def supervised(
    open_device: Callable[[], Any],
    scene: Callable[[DeviceSupervisor, Any], Coroutine[Any, Any, Any]],
    care: RecoveryPolicy = CARE,
    notes: Notes | None = None,
) -> Any:
    """What a scene with a supervisor and the loop returns, in virtual time."""

    async def main(loop: Any) -> Any:
        async def opened() -> Any:
            return open_device()

        supervisor = DeviceSupervisor(3, "toy://x", opened, care, notes or Notes(), now=loop.time)
        try:
            return await scene(supervisor, loop)
        finally:
            await supervisor.close()

    return run_virtually(main)
