"""Keeps the device of one slot healthy, so that whoever plays on it gets one that works or waits.

Invariants: a device that broke is not handed out before it has proved its health; whatever it does, and however long
it takes, nobody else's device waits for it; there is no end to trying, only longer pauses.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from distrl.devices.base import Device, Health, Recoverable, Rung
from distrl.devices.fleet.health_record import HealthRecord
from distrl.devices.fleet.ladder import LadderStart, RecoveryPolicy
from distrl.errors import ConfigError, DeviceError, DeviceLost

PROBATION_EPISODES = 3
"""Good episodes after which a device that was quarantined is like any other."""

OpenDevice = Callable[[], Awaitable[Device]]
Sleep = Callable[[float], Awaitable[None]]


class HealthReporter(Protocol):
    """Who wants to know. Neither method raises."""

    async def event(self, kind: str, detail: str) -> None: ...

    async def health(self, health: Health) -> None: ...


class DeviceSupervisor:
    """Owns one device: opens it, mends it, quarantines it, closes it."""

    def __init__(
        self,
        slot: int,
        address: str,
        open_device: OpenDevice,
        care: RecoveryPolicy,
        herald: HealthReporter,
        *,
        now: Callable[[], float],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._open_device = open_device
        self._care = care
        self._herald = herald
        self._now = now
        self._sleep = sleep
        self._chart = HealthRecord(slot, f"{address}#{slot}", now)
        self._memory = LadderStart()
        self._device: Device | None = None
        self._fault: DeviceError | None = None
        self._broke_at = 0.0
        self._sentences = 0
        """Quarantines in a row."""
        self._proved = PROBATION_EPISODES
        """Good episodes since the last quarantine."""
        self._failed_probation = False

    # -- for whoever plays

    @property
    def health(self) -> Health:
        return self._chart.page(self._device)

    @property
    def device(self) -> Device | None:
        """The device, while nothing is known to be wrong with it."""
        return self._device if self._fault is None else None

    async def ready(self) -> Device:
        """A device that may be given a task, however long that takes. Hold no task while you wait.
        Raises `ConfigError` only: what no device can mend."""
        if self._device is None and self._fault is None:
            self._note_fault(await self._in_time("opening", self._care.boot_s, self._open()))
        while self._fault is not None or self._device is None:
            await self._mend(self._fault or DeviceError(f"{self._chart.name} was closed."))
        return self._device

    async def begins(self) -> None:
        """An episode starts."""
        news = self._chart.condition != "playing"
        self._chart.turned("playing")
        if news:
            await self._tell()

    async def went(self, fault: DeviceError | None) -> None:
        """An episode is over; `fault` says what was wrong with the device, if anything was."""
        if fault is None:
            await self._went_well()
            return
        self._note_fault(fault)
        self._chart.lost(fault)
        self._failed_probation = fault.blames_device and self._on_probation
        await self._herald.event("device_lost", f"{self._chart.name}: {fault}")

    async def close(self) -> None:
        device, self._device = self._device, None
        if device is None:
            return
        error = await self._in_time("closing", self._care.command_s, device.close())
        if error is not None:  # it was broken anyway; a new one is opened in its place
            await self._herald.event("device_not_closed", f"{self._chart.name}: {error}")

    # -- mending

    async def _mend(self, fault: DeviceError) -> None:
        """One climb of the ladder, or, where it leads nowhere, one quarantine."""
        failed, self._failed_probation = self._failed_probation, False
        rung = None if failed else await self._climb(fault)
        if rung is None:
            await self._quarantine(fault)
            return
        self._fault = None
        if fault.blames_device:
            self._memory.helped(rung)
        self._chart.recovered(rung, self._now() - self._broke_at)
        await self._tell()
        detail = f"{rung} helped after {self._now() - self._broke_at:.1f} s"
        await self._herald.event("device_recovered", f"{self._chart.name}: {detail}")

    async def _climb(self, fault: DeviceError) -> Rung | None:
        """The rung that helped."""
        newest = fault
        for rung in self._memory.rungs(fault):
            if not self._care.may_try(rung, self._device, newest):
                continue
            for pause_s in self._care.pauses_s(rung):
                if pause_s:
                    await self._sleep(pause_s)
                self._chart.tries(rung)
                await self._tell()
                trouble = await self._in_time(rung, self._care.deadline_s(rung), self._do(rung))
                if trouble is None:
                    return rung
                newest = trouble
        self._fault = newest  # the reason of the next climb, should there be one
        await self._herald.event("device_not_recovered", f"{self._chart.name}: the last rung says: {newest}")
        return None

    async def _do(self, rung: Rung) -> None:
        """What the rung says, and the proof that it helped: the device shows a picture."""
        if isinstance(self._device, Recoverable):
            await self._device.recover(rung)
        else:
            await self.close()
            await self._open()
        assert self._device is not None
        await self._device.screen()

    async def _quarantine(self, fault: DeviceError) -> None:
        """Leave it alone for a while. It comes back on probation, with the whole ladder before it."""
        await self.close()
        sentence_s = self._care.sentence_s(self._sentences, self._fault or fault)
        self._sentences += 1
        self._proved = 0
        self._memory.forget()
        self._chart.ails(fault)
        self._chart.on_probation(True)
        self._chart.quarantined(self._now() + sentence_s)
        await self._tell()
        await self._herald.event("device_quarantined", f"{self._chart.name}: for {sentence_s:.0f} s: {fault}")
        await self._sleep(sentence_s)

    # -- inside

    @property
    def _on_probation(self) -> bool:
        return self._proved < PROBATION_EPISODES

    async def _went_well(self) -> None:
        self._memory.went_well()
        before = self._chart.page(None).facts
        if self._on_probation:
            self._proved += 1
            if not self._on_probation:
                self._sentences = 0
                self._chart.on_probation(False)
                await self._herald.event("device_cleared", f"{self._chart.name}: {PROBATION_EPISODES} good episodes")
                await self._tell()
                return
        if self.health.facts != before:
            await self._tell()

    def _note_fault(self, fault: DeviceError | None) -> None:
        self._fault = fault
        if fault is not None:
            self._broke_at = self._now()
            self._chart.ails(fault)

    async def _open(self) -> None:
        self._device = await self._open_device()
        self._chart.named(self._device)
        if isinstance(self._device, Recoverable):  # what lives in this process is there once it is made
            await self._device.screen()  # says at once what is wrong, where a rung would wait and see
            if "retry" in self._device.rungs:
                await self._device.recover("retry")

    async def _in_time(self, operation: str, limit_s: float, work: Awaitable[object]) -> DeviceError | None:
        """What went wrong, whatever it was."""
        try:
            async with asyncio.timeout(limit_s):
                await work
        except DeviceError as error:
            return error
        except ConfigError:
            raise
        except TimeoutError:
            knob = "boot" if limit_s == self._care.boot_s else "command"
            return DeviceLost(self._chart.name, operation, limit_s, f"devices.{knob}_timeout_s")
        except Exception as error:  # a bug in one driver costs one device, never the worker
            return DeviceError(f"{self._chart.name} broke in {operation}: {error!r}")
        return None

    async def _tell(self) -> None:
        health = self.health
        if health.eventful:
            await self._herald.health(health)
