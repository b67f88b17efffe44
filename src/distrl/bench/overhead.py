"""Framework time per step over the bare device: on a device that does nothing, a simulated phone, one that takes 1 s.

The same operations on the same device, alternating between two ways: a bare loop of reset, perform and screen; and all
that a worker does from one lease to the next: the episode with its timeouts, the policy server with its thread,
encoding, the spool with its fsync. Policy and judge take no time. The difference is the framework's overhead; the part
that belongs to no step is divided equally among the steps.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distrl.bench._fixed_judge import FixedOutcomeJudge
from distrl.bench.device import monkey
from distrl.devices.base import Device
from distrl.devices.open import open_device
from distrl.policies.actions import format_action
from distrl.policies.server import PolicyServer
from distrl.runtime.evaluation import TaskList
from distrl.types import (
    Action,
    Decision,
    Features,
    Outcome,
    Prompt,
    Screen,
    Tap,
    Task,
    VersionedWeights,
)
from distrl.worker.episode import Episode, EpisodeLimits, TrajectoryIds
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.spool import Spool
from distrl.worker.uploader import Uploader

NULL, PHONE, SLOW = "null://phone", "sim://phone", "null://phone?action_s=1"
NULL_BAR_MS, SLOW_BAR = 2.0, 0.01
NOT_JUDGED = Outcome("failure", "not judged")
LIMITS = EpisodeLimits(command_s=60.0, episode_s=1800.0, history=3)


def run(
    steps: int = 20, episodes: int = 25, repeats: int = 5, slow_steps: int = 10, slow_repeats: int = 3, seed: int = 0
) -> dict[str, Any]:
    """Per device and repeat `episodes` pairs of episodes of `steps` steps; the slow device plays one pair per repeat.

    `overhead_ms` has one median per repeat, `overhead_p95_ms` is taken over all steps.
    """
    rows = {
        "null": _figures(NULL, Amount(steps, episodes, repeats), seed),
        "sim": _figures(PHONE, Amount(steps, max(1, episodes // 5), repeats), seed),
        "slow": _figures(SLOW, Amount(slow_steps, 1, slow_repeats), seed),
    }
    return {**rows, "bars": bars(rows["null"], rows["slow"])}


def bars(null: dict[str, Any], slow: dict[str, Any]) -> dict[str, Any]:
    """The thresholds, and whether they are met."""
    middle, share = statistics.median(null["overhead_ms"]), statistics.median(slow["overhead_share"])
    return {
        "null_overhead_ms_below": NULL_BAR_MS,
        "slow_overhead_share_below": SLOW_BAR,
        "met": middle < NULL_BAR_MS and share < SLOW_BAR,
    }


@dataclass(frozen=True)
class Amount:
    """Number of steps, episodes and repeats on one device."""

    steps: int
    episodes: int
    repeats: int


@dataclass(frozen=True)
class Timing:
    """Seconds of one episode: of each step, from one screen to the next, and of the rest."""

    steps: tuple[float, ...]
    rest: float


def _figures(address: str, amount: Amount, seed: int) -> dict[str, Any]:
    pairs = asyncio.run(_pairs(address, amount, seed))
    overheads = [[1000 * one for pair in repeat for one in overhead(*pair)] for repeat in pairs]
    bare = statistics.median(1000 * one for repeat in pairs for bare, _ in repeat for one in bare.steps)
    middles = [statistics.median(repeat) for repeat in overheads]
    pooled = [one for repeat in overheads for one in repeat]
    return {
        "device": address,
        "steps": len(pooled),
        "bare_ms": bare,
        "overhead_ms": middles,
        "overhead_p95_ms": quantile(pooled, 0.95),
        "overhead_mean_ms": [statistics.fmean(repeat) for repeat in overheads],
        "overhead_share": [middle / bare for middle in middles],
    }


def overhead(bare: Timing, framed: Timing) -> list[float]:
    """Overhead in seconds per step; the sum is the whole difference between the two episodes."""
    share = (framed.rest - bare.rest) / len(framed.steps)
    return [with_it - without + share for with_it, without in zip(framed.steps, bare.steps, strict=True)]


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def _pairs(address: str, amount: Amount, seed: int) -> list[list[tuple[Timing, Timing]]]:
    """Per repeat, pairs of a bare and a framed episode, in alternating order."""
    watch = Stopwatch(open_device(address, seed=seed, name="bench"))
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=1) as executor:
        framework = Framework(watch, executor, Path(folder), seed)
        await framework.play(_task(seed, 0, 1), [Tap(500, 500)])  # threads start, caches fill
        return [
            [await _pair(watch, framework, _task(seed, number, amount.steps), number) for number in numbers]
            for numbers in _numbered(amount)
        ]


def _numbered(amount: Amount) -> list[range]:
    return [range(1 + n * amount.episodes, 1 + (n + 1) * amount.episodes) for n in range(amount.repeats)]


async def _pair(watch: Stopwatch, framework: Framework, task: Task, number: int) -> tuple[Timing, Timing]:
    actions = await _rehearse(watch.device, task, random.Random(number))
    if number % 2:
        bare = await play_bare(watch, task, actions)
        return bare, await framework.play(task, actions)
    framed = await framework.play(task, actions)
    return await play_bare(watch, task, actions), framed


async def _rehearse(device: Device, task: Task, rng: random.Random) -> list[Action]:
    """Chooses actions that do something on this task; afterwards every screen they lead to was rendered once."""
    if device.address != PHONE:
        return [Tap(500, 500)] * task.max_steps
    screen, actions = await device.reset(task), []
    for _ in range(task.max_steps):
        actions.append(monkey(screen, rng))
        await device.perform(actions[-1])
        screen = await device.screen()
    return actions


async def play_bare(watch: Stopwatch, task: Task, actions: Sequence[Action]) -> Timing:
    began = watch.start()
    await watch.reset(task)
    for action in actions:
        await watch.perform(action)
        await watch.screen()
    return watch.timing(time.perf_counter() - began)


class Framework:
    """What a worker does around a device, up to the trajectory in its spool."""

    def __init__(self, watch: Stopwatch, executor: ThreadPoolExecutor, folder: Path, seed: int) -> None:
        self._watch = watch
        self._policy = ScriptedPolicy()
        self._spool = Spool(folder)
        self._uploader = Uploader(self._spool, TolerantHostClient("bench", TaskList("bench", [])), limit_bytes=2**40)
        server = PolicyServer(self._policy, batch_size=32, executor=executor)
        ids = TrajectoryIds(seed, 0)
        judge = FixedOutcomeJudge(Outcome("failure", "not judged"))
        self._episode = Episode(watch, server, judge, LIMITS, new_id=ids, now=time.time)

    async def play(self, task: Task, actions: Sequence[Action]) -> Timing:
        self._policy.set_script(actions)
        began = self._watch.start()
        trajectory = await self._episode.play(task)
        await self._uploader.put(trajectory)
        timing = self._watch.timing(time.perf_counter() - began)
        self._spool.remove(trajectory.id)  # the uploader delivers it, and no device waits for that
        return timing


class ScriptedPolicy:
    """Returns scripted actions, at once. A `Policy`."""

    version = 0

    def __init__(self) -> None:
        self._script: list[Decision] = []

    def set_script(self, actions: Sequence[Action]) -> None:
        self._script = [Decision(a, format_action(a), (1, 2, 3), (-0.1, -0.2, -0.3), 0.5, 0) for a in reversed(actions)]

    def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
        return [self._script.pop() for _ in prompts]

    def load(self, weights: VersionedWeights) -> None:
        raise NotImplementedError

    def known_features(self, digests: Sequence[str]) -> Features:
        return {}


class Stopwatch:
    """A device wrapper that records when a screen was shown. Both ways go through it, so it costs both the same."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.address = device.address
        self._shown: list[float] = []

    def start(self) -> float:
        self._shown = []
        return time.perf_counter()

    def timing(self, total: float) -> Timing:
        steps = tuple(after - before for before, after in zip(self._shown, self._shown[1:], strict=False))
        return Timing(steps, total - sum(steps))

    async def reset(self, task: Task) -> Screen:
        return self._noted(await self.device.reset(task))

    async def perform(self, action: Action) -> None:
        await self.device.perform(action)

    async def screen(self) -> Screen:
        return self._noted(await self.device.screen())

    async def close(self) -> None:
        await self.device.close()

    def _noted(self, screen: Screen) -> Screen:
        self._shown.append(time.perf_counter())
        return screen


def _task(seed: int, number: int, steps: int) -> Task:
    return Task(f"bench/{seed}/{number}", "bench", "train", "bench/overhead", "", seed * 100_000 + number, steps)
