"""One fleet, struck or left alone, in a process of its own: `python -m distrl.bench.faults.trial JOB.json`.

Prints its report as one line of JSON. Worker and phones have a loop each; the host has a thread, as it has a process on
Ray.
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

from distrl.bench.asynchrony.host_thread import HostThread, HostThreadClient
from distrl.bench.faults.emulators import Emulators
from distrl.bench.faults.phone_thread import PhoneThread
from distrl.bench.faults.random_faults import inject_random_faults
from distrl.bench.faults.rows import FaultRow, row
from distrl.bench.faults.scripted_policies import MOVES, FixedMovesPolicy, Lenient, MalformedActionsPolicy
from distrl.bench.faults.stub_endpoint import StubEndpoint, truth
from distrl.config import Config
from distrl.phone_server.phone import Model
from distrl.runtime.topology import Builder
from distrl.store.run import RunStore
from distrl.types import Trajectory
from distrl.worker.worker import Worker

WAITS = "sim://phone?latency=emulator&scale=0.5"
"""Half of an emulator's: its longest stalls would be longer than `call_s`, and a twin that breaks is no measure."""
BOOT_S = 90.0
"""How long a fleet may take until all of it plays."""
UNKNOWN = -1
"""Slot of a strike at a process: which one it played for shows when its episode breaks."""
BEGIN, END = 0.15, 0.6
"""Shares of a trial between which its strikes fall: what is struck shall have time to come back."""


@dataclass(frozen=True)
class FaultJob:
    row: int
    """0: a soak, with faults of all rows by chance."""
    struck: bool
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
    """What is left when all is over."""

    episodes: int = 0
    """Valid ones that ended in time."""
    invalid: int = 0
    lost: int = 0
    doubled: int = 0
    wrong: int = 0
    """Outcomes that the judge did not give."""
    leased: int = 0
    """Tasks that nobody gave back."""
    strikes: list[InjectedFault] = field(default_factory=list)
    came_back: int = 0
    """Struck phones that played a valid episode to its end after it."""
    recovery_s: list[float] = field(default_factory=list)
    """From a strike that cost an episode to the beginning of that phone's next valid one."""
    rungs: dict[str, int] = field(default_factory=dict)
    """Rung → how often it helped."""
    quarantines: int = 0


class FaultBuilder(Builder):
    def __init__(self, config: Config, judge: str) -> None:
        super().__init__(config)
        self._judge = judge

    def judge(self) -> Any:
        return Lenient() if self._judge == "lenient" else self.vlm_judge()


def play(job: FaultJob) -> FaultReport:
    plan = FaultRow(0, "soak") if job.row == 0 else row(job.row)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        fleet: PhoneThread | Emulators
        if plan.fleet == "avd":
            fleet = stack.enter_context(Emulators(place, job.phones, plan.orders if job.struck else (), WAITS))
        else:
            fleet = stack.enter_context(PhoneThread(Model(WAITS, seed=job.seed), job.phones))
        endpoint = stack.enter_context(StubEndpoint(hostile=job.struck)) if plan.judge == "vlm" else None
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
        self.strikes: list[InjectedFault] = []
        self.rng = random.Random(f"{job.row}/{job.seed}")

    async def run(self) -> FaultReport:
        builder = FaultBuilder(self.config, self.plan.judge)
        host = HostThread(builder, time.time)
        policy_client = MalformedActionsPolicy() if self.plan.policy_client == "mumbler" else FixedMovesPolicy()
        self._prepare()
        worker = builder.worker("bench", policy_client, HostThreadClient(host), time.time)
        playing = asyncio.ensure_future(worker.run())
        began = await self._all_play(host)
        striking = asyncio.ensure_future(self._strike(began)) if self.job.struck else None
        try:
            await asyncio.wait([playing], timeout=self.job.seconds)
            if playing.done():
                playing.result()
        finally:
            if striking is not None:
                striking.cancel()
            worker.stop()
            await playing
        try:
            return self._report(host, worker, began)
        finally:
            host.close()

    async def _all_play(self, host: HostThread) -> float:
        """When every phone that ever will has begun its first episode: booting is not part of the time."""
        expected = self.job.phones - (len(self._slots) if self.plan.before and self.plan.struck < 1.0 else 0)
        deadline = time.time() + BOOT_S
        while host.host.leases.in_flight < expected and time.time() < deadline:
            await asyncio.sleep(0.05)
        return time.time()

    # -- striking

    @property
    def _slots(self) -> range:
        return range(max(1, round(self.plan.struck * self.job.phones)))

    def _prepare(self) -> None:
        if self.plan.orders and self.job.struck:
            self.strikes += [InjectedFault(time.time(), slot) for slot in range(self.job.phones)]
        if self.plan.before is not None and self.job.struck:
            for slot in self._slots:
                self.fleet.touch(slot, self.plan.before)
                self.strikes.append(InjectedFault(time.time(), slot))

    async def _strike(self, began: float) -> None:
        """Each phone once, one after the other; or, in a soak, all kinds by chance until it is over."""
        if self.job.row == 0:
            await inject_random_faults(self.fleet, self.job.phones, self.job.every_s, self.rng, self._note)
            return
        times = len(self._slots) if self.plan.kill != "server" else 1
        for number in range(times):
            share = BEGIN + (END - BEGIN) * (number + 0.5) / times
            await asyncio.sleep(max(0.0, began + share * self.job.seconds - time.time()))
            if self.plan.strike is not None:
                self.fleet.touch(number, self.plan.strike)
                self._note(number)
            elif self.plan.kill == "server":
                await asyncio.to_thread(self.fleet.kill_server)
                for slot in range(self.job.phones):
                    self._note(slot)
            elif self.plan.kill == "emulator":
                await asyncio.to_thread(self.fleet.kill_one)
                self._note(UNKNOWN)

    def _note(self, slot: int, what: str = "") -> None:
        self.strikes.append(InjectedFault(time.time(), slot, what))

    # -- what is left

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
        placed(self.strikes, played)
        recoveries = [recovery(strike, played) for strike in self.strikes]
        return FaultReport(
            episodes=sum(ok and began <= end <= began + self.job.seconds for _, _, end, ok in played),
            invalid=counts.invalid,
            lost=worker.uploader.produced - counts.trajectories - counts.invalid,
            doubled=host.host.counters.duplicates + len(kept) - len({t.id for t in kept}),
            wrong=self._wrong(store),
            leased=host.host.leases.in_flight,
            strikes=self.strikes,
            came_back=sum(returned(strike, played) for strike in self.strikes),
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


def placed(strikes: Sequence[InjectedFault], played: PlayedEpisodes) -> None:
    """Whoever broke next after a strike at a phone that has no number is the one."""
    taken: set[int] = set()
    for strike in strikes:
        if strike.slot == UNKNOWN:
            broken = sorted((end, slot) for slot, _, end, ok in played if not ok and end >= strike.at)
            strike.slot = next((slot for _, slot in broken if slot not in taken), UNKNOWN)
            taken.add(strike.slot)


def recovery(strike: InjectedFault, played: PlayedEpisodes) -> float | None:
    """None: the strike cost no episode, or its phone did not come back."""
    later = sorted((start, ok) for slot, start, end, ok in played if slot == strike.slot and end >= strike.at)
    broken = next((start for start, ok in later if not ok), None)
    again = next((start for start, ok in later if ok and start > strike.at), None)
    # A valid episode that began in between: it broke later, and of something else.
    return again - strike.at if broken is not None and again is not None and broken < again else None


def returned(strike: InjectedFault, played: PlayedEpisodes) -> bool:
    return any(slot == strike.slot and ok and start > strike.at for slot, start, _, ok in played)


if __name__ == "__main__":
    print(json.dumps(asdict(play(FaultJob(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))))
