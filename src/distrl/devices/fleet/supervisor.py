"""Supervises the device of one slot: opens it, restarts it after a failure, puts it in quarantine.

Invariants: a device that failed is handed out again only after a recovery that ended with a picture; recovering one
device never blocks another; recovery is retried for ever, with backoff.
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
"""Good episodes in a row that end the probation after a quarantine."""

OpenDevice = Callable[[], Awaitable[Device]]
Sleep = Callable[[float], Awaitable[None]]


class HealthReporter(Protocol):
    """Receives events and health of a device. Neither method raises."""

    async def event(self, kind: str, detail: str) -> None: ...

    async def health(self, health: Health) -> None: ...


class DeviceSupervisor:
    """Owns one device: opens, recovers, quarantines and closes it."""

    def __init__(
        self,
        slot: int,
        address: str,
        open_device: OpenDevice,
        policy: RecoveryPolicy,
        reporter: HealthReporter,
        *,
        now: Callable[[], float],
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._open_device = open_device
        self._policy = policy
        self._reporter = reporter
        self._now = now
        self._sleep = sleep
        self._record = HealthRecord(slot, f"{address}#{slot}", now)
        self._ladder_start = LadderStart()
        self._device: Device | None = None
        self._fault: DeviceError | None = None
        self._failed_at = 0.0
        self._quarantines = 0
        """Quarantines in a row."""
        self._good_episodes = PROBATION_EPISODES
        """Good episodes since the last quarantine."""
        self._failed_probation = False

    # -- for the slot that plays on it

    @property
    def health(self) -> Health:
        return self._record.health(self._device)

    @property
    def device(self) -> Device | None:
        """The device, unless it is known to be broken or is not open."""
        return self._device if self._fault is None else None

    async def ready(self) -> Device:
        """A working device, after a recovery of any length: hold no lease meanwhile. Raises only `ConfigError`."""
        if self._device is None and self._fault is None:
            self._set_fault(await self._with_timeout("opening", self._policy.boot_s, self._open()))
        while self._fault is not None or self._device is None:
            await self._recover(self._fault or DeviceError(f"{self._record.name} was closed."))
        return self._device

    async def on_episode_start(self) -> None:
        """Call when an episode starts."""
        changed = self._record.condition != "playing"
        self._record.set_condition("playing")
        if changed:
            await self._report_health()

    async def on_episode_end(self, fault: DeviceError | None) -> None:
        """Call when an episode is over; `fault` is the device failure that ended it, if any."""
        if fault is None:
            await self._on_good_episode()
            return
        self._set_fault(fault)
        self._record.episode_lost(fault)
        self._failed_probation = fault.blames_device and self._on_probation
        await self._reporter.event("device_lost", f"{self._record.name}: {fault}")

    async def close(self) -> None:
        device, self._device = self._device, None
        if device is None:
            return
        error = await self._with_timeout("closing", self._policy.command_s, device.close())
        if error is not None:  # a new device is opened in its place
            await self._reporter.event("device_not_closed", f"{self._record.name}: {error}")

    # -- recovery

    async def _recover(self, fault: DeviceError) -> None:
        """Climb the ladder once; put the device in quarantine if no rung helps."""
        failed, self._failed_probation = self._failed_probation, False
        rung = None if failed else await self._climb_ladder(fault)
        if rung is None:
            await self._quarantine(fault)
            return
        self._fault = None
        if fault.blames_device:
            self._ladder_start.rung_helped(rung)
        self._record.recovered(rung, self._now() - self._failed_at)
        await self._report_health()
        detail = f"{rung} helped after {self._now() - self._failed_at:.1f} s"
        await self._reporter.event("device_recovered", f"{self._record.name}: {detail}")

    async def _climb_ladder(self, fault: DeviceError) -> Rung | None:
        """The rung that helped."""
        last_error = fault
        for rung in self._ladder_start.rungs(fault):
            if not self._policy.may_try(rung, self._device, last_error):
                continue
            for pause_s in self._policy.pauses_s(rung):
                if pause_s:
                    await self._sleep(pause_s)
                self._record.rung_started(rung)
                await self._report_health()
                error = await self._with_timeout(rung, self._policy.deadline_s(rung), self._run_rung(rung))
                if error is None:
                    return rung
                last_error = error
        self._fault = last_error  # the fault that the next climb starts from
        await self._reporter.event("device_not_recovered", f"{self._record.name}: the last rung says: {last_error}")
        return None

    async def _run_rung(self, rung: Rung) -> None:
        """Run one rung, then take a picture as proof that it helped."""
        if isinstance(self._device, Recoverable):
            await self._device.recover(rung)
        else:
            await self.close()
            await self._open()
        assert self._device is not None
        await self._device.screen()

    async def _quarantine(self, fault: DeviceError) -> None:
        """Close it and wait; afterwards it is on probation and every rung may be tried again."""
        await self.close()
        quarantine_s = self._policy.quarantine_duration_s(self._quarantines, self._fault or fault)
        self._quarantines += 1
        self._good_episodes = 0
        self._ladder_start.reset()
        self._record.set_reason(fault)
        self._record.set_probation(True)
        self._record.quarantined(self._now() + quarantine_s)
        await self._report_health()
        await self._reporter.event("device_quarantined", f"{self._record.name}: for {quarantine_s:.0f} s: {fault}")
        await self._sleep(quarantine_s)

    # -- inside

    @property
    def _on_probation(self) -> bool:
        return self._good_episodes < PROBATION_EPISODES

    async def _on_good_episode(self) -> None:
        self._ladder_start.on_good_episode()
        before = self._record.health(None).facts
        if self._on_probation:
            self._good_episodes += 1
            if not self._on_probation:
                self._quarantines = 0
                self._record.set_probation(False)
                await self._reporter.event("device_cleared", f"{self._record.name}: {PROBATION_EPISODES} good episodes")
                await self._report_health()
                return
        if self.health.facts != before:
            await self._report_health()

    def _set_fault(self, fault: DeviceError | None) -> None:
        self._fault = fault
        if fault is not None:
            self._failed_at = self._now()
            self._record.set_reason(fault)

    async def _open(self) -> None:
        self._device = await self._open_device()
        self._record.set_device(self._device)
        if isinstance(self._device, Recoverable):  # other devices work once they are constructed
            await self._device.screen()  # fails at once, where a rung would wait
            if "retry" in self._device.rungs:
                await self._device.recover("retry")

    async def _with_timeout(self, operation: str, limit_s: float, work: Awaitable[object]) -> DeviceError | None:
        """Run `work` with a timeout; the failure as a `DeviceError`, or None."""
        try:
            async with asyncio.timeout(limit_s):
                await work
        except DeviceError as error:
            return error
        except ConfigError:
            raise
        except TimeoutError:
            setting = "boot" if limit_s == self._policy.boot_s else "command"
            return DeviceLost(self._record.name, operation, limit_s, f"devices.{setting}_timeout_s")
        except Exception as error:  # a bug in one driver costs one device, never the worker
            return DeviceError(f"{self._record.name} broke in {operation}: {error!r}")
        return None

    async def _report_health(self) -> None:
        health = self.health
        if health.eventful:
            await self._reporter.health(health)
