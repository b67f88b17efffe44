"""One fleet, with faults injected or as the control, in a process of its own.

Started as `python -m distrl.bench.faults.trial JOB.json`; prints its report as one line of JSON. Worker and phones have
an event loop each; the host has a thread, as it has a process on Ray.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from distrl.bench._fixed_judge import ALWAYS_SUCCESS
from distrl.bench.asynchrony.host_thread import HostThread, HostThreadClient
from distrl.bench.faults.emulators import Emulators
from distrl.bench.faults.phone_thread import PhoneThread
from distrl.bench.faults.random_faults import inject_random_faults
from distrl.bench.faults.rows import FaultRow, row
from distrl.bench.faults.scripted_policies import MOVES, FixedMovesPolicy, MalformedActionsPolicy
from distrl.bench.faults.stub_endpoint import StubEndpoint, truth
from distrl.config import Config
from distrl.phone_server.phone import PhoneModel
from distrl.runtime.topology import Builder
from distrl.store.run import RunStore
from distrl.types import Trajectory
from distrl.worker.worker import Worker

WAITS = "sim://phone?latency=emulator&scale=0.5"
"""Half an emulator's latency: its longest stalls exceed `call_s` and would break the control fleet too."""
BOOT_S = 90.0
"""Timeout until all phones of a fleet play."""
UNKNOWN = -1
"""Slot of a fault in a process whose phone is not known; `assign_slots` finds it by the episode that breaks."""
BEGIN, END = 0.15, 0.6
"""Faults are injected between these shares of a trial, to leave time for recovery."""


@dataclass(frozen=True)
class FaultJob:
    row: int
    """0: a soak, with faults of all rows by chance."""
    faulted: bool
    phones: int
    seconds: float
    seed: int
    every_s: float = 0.0
    """Soak: mean time between two faults of a phone."""


@dataclass
class InjectedFault:
    at: float
    slot: int
    what: str = ""


@dataclass
class FaultReport:
    """The counts of one fleet after the trial."""

    episodes: int = 0
    """Valid ones that ended in time."""
    invalid: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: int = 0
    """Outcomes that differ from what the judge gave."""
    leased: int = 0
    """Leases that were not settled."""
    faults: list[InjectedFault] = field(default_factory=list)
    came_back: int = 0
    """Faults after which their phone started a valid episode again."""
    recovery_s: list[float] = field(default_factory=list)
    """From a fault that cost an episode to the start of that phone's next valid one."""
    rungs: dict[str, int] = field(default_factory=dict)
    """Recovery step → how often it helped."""
    quarantines: int = 0


class FaultBuilder(Builder):
    def __init__(self, config: Config, judge: str) -> None:
        super().__init__(config)
        self._judge = judge

    def judge(self) -> Any:
        return ALWAYS_SUCCESS if self._judge == "always_success" else self.vlm_judge()


def play(job: FaultJob) -> FaultReport:
    plan = FaultRow(0, "soak") if job.row == 0 else row(job.row)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        fleet: PhoneThread | Emulators
        if plan.fleet == "avd":
            fleet = stack.enter_context(Emulators(place, job.phones, plan.orders if job.faulted else (), WAITS))
        else:
            fleet = stack.enter_context(PhoneThread(PhoneModel(WAITS, seed=job.seed), job.phones))
        endpoint = stack.enter_context(StubEndpoint(hostile=job.faulted)) if plan.judge == "vlm" else None
        config = configured(place, fleet.address(plan.query), job, endpoint.url if endpoint else "")
        RunStore.create(config.run_folder, {}, {}).close()
        return asyncio.run(FaultTrial(job, plan, fleet, config).run())


def configured(place: Path, address: str, job: FaultJob, url: str) -> Config:
    judge = {"kind": "vlm", "model": "stub", "url": url, "timeout_s": 2.0, "cache": None} if url else {}
    return Config.model_validate(
        {
            "run": {"folder": str(place), "name": "run", "seed": job.seed, "minimum_free_mb": 0},
            "devices": {"address": address, "per_worker": job.phones},
            "replay": {"warmup": 1, "capacity": 1000},
            "judge": judge,
            "policy": {"history": len(MOVES)},
            "workers": {"share_features": False},
        }
    )


class FaultTrial:
    def __init__(self, job: FaultJob, plan: FaultRow, fleet: PhoneThread | Emulators, config: Config) -> None:
        self.job, self.plan, self.fleet, self.config = job, plan, fleet, config
        self.faults: list[InjectedFault] = []
        self.rng = random.Random(f"{job.row}/{job.seed}")

    async def run(self) -> FaultReport:
        builder = FaultBuilder(self.config, self.plan.judge)
        host = HostThread(builder, time.time)
        policy_client = (
            MalformedActionsPolicy() if self.plan.policy_client == "malformed_actions" else FixedMovesPolicy()
        )
        self._prepare()
        worker = builder.worker("bench", policy_client, HostThreadClient(host), time.time)
        playing = asyncio.ensure_future(worker.run())
        began = await self._all_play(host)
        injecting = asyncio.ensure_future(self._inject(began)) if self.job.faulted else None
        try:
            await asyncio.wait([playing], timeout=self.job.seconds)
            if playing.done():
                playing.result()
        finally:
            if injecting is not None:
                injecting.cancel()
            worker.stop()
            await playing
        try:
            return self._report(host, worker, began)
        finally:
            host.close()

    async def _all_play(self, host: HostThread) -> float:
        """Waits until every phone that can has begun its first episode; returns the time. Booting is not measured."""
        expected = self.job.phones - (len(self._slots) if self.plan.before and self.plan.faulted_share < 1.0 else 0)
        deadline = time.time() + BOOT_S
        while host.host.leases.in_flight < expected and time.time() < deadline:
            await asyncio.sleep(0.05)
        return time.time()

    # -- injecting

    @property
    def _slots(self) -> range:
        return range(max(1, round(self.plan.faulted_share * self.job.phones)))

    def _prepare(self) -> None:
        if self.plan.orders and self.job.faulted:
            self.faults += [InjectedFault(time.time(), slot) for slot in range(self.job.phones)]
        if self.plan.before is not None and self.job.faulted:
            for slot in self._slots:
                self.fleet.inject(slot, self.plan.before)
                self.faults.append(InjectedFault(time.time(), slot))

    async def _inject(self, began: float) -> None:
        """Each phone once, one after the other; in a soak, random faults until the end."""
        if self.job.row == 0:
            await inject_random_faults(self.fleet, self.job.phones, self.job.every_s, self.rng, self._record_fault)
            return
        times = len(self._slots) if self.plan.kill != "server" else 1
        for number in range(times):
            share = BEGIN + (END - BEGIN) * (number + 0.5) / times
            await asyncio.sleep(max(0.0, began + share * self.job.seconds - time.time()))
            if self.plan.inject is not None:
                self.fleet.inject(number, self.plan.inject)
                self._record_fault(number)
            elif self.plan.kill == "server":
                await asyncio.to_thread(self.fleet.kill_server)
                for slot in range(self.job.phones):
                    self._record_fault(slot)
            elif self.plan.kill == "emulator":
                await asyncio.to_thread(self.fleet.kill_one)
                self._record_fault(UNKNOWN)

    def _record_fault(self, slot: int, what: str = "") -> None:
        self.faults.append(InjectedFault(time.time(), slot, what))

    # -- the report

    def _report(self, host: HostThread, worker: Worker, began: float) -> FaultReport:
        store = host.host.store
        counts = store.counts()
        kept = [*store.trajectories(), *store.trajectories(outcome="invalid")]
        played = [(slot_of(t), t.started_at, t.started_at + t.duration_s, t.outcome.kind != "invalid") for t in kept]
        healths = [entry.health for entry in store.devices() if entry.health is not None]
        rungs: dict[str, int] = {}
        for health in healths:
            for rung, count in health.helped.items():
                rungs[rung] = rungs.get(rung, 0) + count
        assign_slots(self.faults, played)
        recoveries = [recovery(fault, played) for fault in self.faults]
        return FaultReport(
            episodes=sum(ok and began <= end <= began + self.job.seconds for _, _, end, ok in played),
            invalid=counts.invalid,
            lost=worker.uploader.produced - counts.trajectories - counts.invalid,
            doubled=host.host.counters.duplicates + len(kept) - len({t.id for t in kept}),
            wrong=self._wrong(store),
            leased=host.host.leases.in_flight,
            faults=self.faults,
            came_back=sum(returned(fault, played) for fault in self.faults),
            recovery_s=[seconds for seconds in recoveries if seconds is not None],
            rungs=rungs,
            quarantines=sum(health.quarantines for health in healths),
        )

    def _wrong(self, store: RunStore) -> int:
        if self.plan.judge != "vlm":
            return 0
        judged = [t for t in store.trajectories() if t.outcome.kind != "invalid"]
        return sum(t.outcome.success != truth(t.task.goal) for t in judged)


def slot_of(trajectory: Trajectory) -> int:
    return int(trajectory.device.rpartition("#")[2])


PlayedEpisodes = list[tuple[int, float, float, bool]]
"""Slot, beginning, end, valid."""


def assign_slots(faults: Sequence[InjectedFault], played: PlayedEpisodes) -> None:
    """Assign a fault of unknown slot to the phone whose episode broke next."""
    taken: set[int] = set()
    for fault in faults:
        if fault.slot == UNKNOWN:
            broken = sorted((end, slot) for slot, _, end, ok in played if not ok and end >= fault.at)
            fault.slot = next((slot for _, slot in broken if slot not in taken), UNKNOWN)
            taken.add(fault.slot)


def recovery(fault: InjectedFault, played: PlayedEpisodes) -> float | None:
    """Seconds from the fault to the next valid episode; None if it cost no episode or the phone did not recover."""
    later = sorted((start, ok) for slot, start, end, ok in played if slot == fault.slot and end >= fault.at)
    broken = next((start for start, ok in later if not ok), None)
    again = next((start for start, ok in later if ok and start > fault.at), None)
    # If a valid episode began in between, the later break had another cause.
    return again - fault.at if broken is not None and again is not None and broken < again else None


def returned(fault: InjectedFault, played: PlayedEpisodes) -> bool:
    return any(slot == fault.slot and ok and start > fault.at for slot, start, _, ok in played)


if __name__ == "__main__":
    print(json.dumps(asdict(play(FaultJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))))
