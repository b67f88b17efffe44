"""A worker that plays on served phones through the real adb, for a real host, while the phones break."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from served import Served
from toy import ToySuite, toy_config

from distrl.devices.base import Device, Health
from distrl.devices.open import open_device
from distrl.host.host import Host
from distrl.replay.buffer import ReplayBuffer
from distrl.runtime.evaluation import MemorySpool
from distrl.runtime.local_client import LocalClient
from distrl.store.run import Counts, RunStore
from distrl.types import Action, Decision, Done, Features, Outcome, Press, Prompt, Swipe, Task, Trajectory, Tree
from distrl.worker.worker import Worker

PATIENCE_S = 60.0
MOVES: tuple[Action, ...] = (Press("home"), Swipe(500, 700, 500, 300), Press("home"))
"""Enough input for a fault that is drawn at input; the second home shows the picture of the first."""


class Mover:
    """A brain that makes the same moves in every episode."""

    version = 0

    async def act(self, prompt: Prompt) -> Decision:
        action = MOVES[len(prompt.history)] if len(prompt.history) < len(MOVES) else Done()
        return Decision(action, type(action).__name__, (1,), (-0.5,), 0.1, self.version)

    async def load(self, weights: Any) -> None:
        raise AssertionError

    def known_features(self, digests: Any) -> Features:
        return {}


class Lenient:
    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        assert evidence is not None
        return Outcome("success")


class Fleet:
    """What a test sees of it."""

    def __init__(self, host: Host, worker: Worker, devices: list[Device]) -> None:
        self.host, self.worker, self.devices = host, worker, devices

    async def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < deadline, (self.host.store.counts(), self.host.store.events())
            await asyncio.sleep(0.02)

    async def plays(self, more: int) -> None:
        """Waits for so many more valid episodes."""
        wanted = self.host.store.counts().trajectories + more
        await self.until(lambda: self.host.store.counts().trajectories >= wanted)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.host.store.events()]

    def healths(self) -> dict[int, Health]:
        found = [entry.health for entry in self.host.store.devices()]
        return {health.slot: health for health in found if health is not None}

    def played_by(self) -> dict[str, int]:
        return {entry.device: entry.episodes - entry.invalid for entry in self.host.store.devices()}


@dataclass(frozen=True)
class After:
    """What is left when all is over."""

    counts: Counts
    kinds: list[str]
    healths: dict[int, Health]
    """By slot."""
    played: dict[str, int]
    """Device → valid episodes."""


def play(
    phones: Served, folder: Path, scene: Callable[[Fleet], Awaitable[Any]], query: str = "call_s=1.5", **devices: Any
) -> After:
    """Let one worker play on all of these phones while a scene goes on. Whatever happens in it, nothing is lost."""
    address = f"adb://{','.join(phones.addresses)}?{query}"
    settings = {
        "address": address, "per_worker": len(phones.addresses), "command_timeout_s": 20.0, "boot_timeout_s": 20.0,
        "quarantine_s": 0.5, "quarantine_longest_s": 2.0,
    }  # fmt: skip
    config = toy_config(folder, devices=settings | devices, pacing={"max_lag": None}, workers={"share_features": False})
    RunStore.create(config.run_folder, {}, {}).close()
    store = RunStore.open(config.run_folder)
    replay = ReplayBuffer(config.replay, np.random.default_rng(0))
    host = Host(config, store, replay, ToySuite(), now=time.time, free_mb=lambda: 1e6)
    opened: list[Device] = []

    async def run() -> Fleet:
        async def open_slot(slot: int) -> Device:
            opened.append(open_device(address, seed=0, name=f"w/{slot}"))
            return opened[-1]

        worker = Worker(
            "w", config, client=LocalClient(host, "w"), policy_client=Mover(), judge=Lenient(), open_device=open_slot,
            spool=MemorySpool(), now=time.time,
        )  # fmt: skip
        fleet = Fleet(host, worker, opened)
        running = asyncio.ensure_future(worker.run())
        try:
            await scene(fleet)
        finally:
            worker.stop()
            await running
        return fleet

    try:
        fleet = asyncio.run(run())
        counts = store.counts()
        assert fleet.worker.uploader.produced - counts.trajectories - counts.invalid == 0
        assert host.counters.duplicates == 0
        assert host.leases.in_flight == 0
        return After(counts, fleet.kinds(), fleet.healths(), fleet.played_by())
    finally:
        host.close()
