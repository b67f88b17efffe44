"""Simulated latency: devices and a policy that only wait, for given times, and use almost no CPU."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from distrl.bench.asynchrony.profiles import ACTION_SHARE, ACTIONS, RESET_SHARE, EpisodeDurations
from distrl.bench.asynchrony.timeline import BusyTimes
from distrl.types import (
    Action,
    Decision,
    Done,
    Features,
    Prompt,
    Screen,
    Tap,
    Task,
    VersionedWeights,
)

SCREEN_BYTES = 2_000
TEMPLATES = tuple(f"wait/{number:02d}" for number in range(16))
"""From the fastest sixteenth of the distribution of episode times to the slowest. The curriculum plays templates
equally often."""


@cache
def blank(step: int) -> Screen:
    """The screen of every phone at this step; the step's number is its foreground app."""
    noise = np.random.default_rng(step).bytes(SCREEN_BYTES)
    return Screen(noise, 8, 8, foreground=str(step))


class WaitingPhone:
    """A device with blank screens that records when it was busy and how long its episodes last."""

    def __init__(
        self, slot: int, pace: EpisodeDurations, uses: BusyTimes, episodes: dict[tuple[int, float], float]
    ) -> None:
        """`episodes` receives the duration of each: (slot, start time) → seconds."""
        self.address = f"wait://{pace.profile}"
        self._slot = slot
        self._pace = pace
        self._uses = uses
        self._episodes = episodes
        self._episode_s = 0.0
        self._step = 0

    async def reset(self, task: Task) -> Screen:
        self._episode_s = self._pace.episode_s(self._slot, task.params["quantile"])
        self._step = 0
        self._episodes[self._slot, asyncio.get_running_loop().time()] = self._episode_s
        await self._wait("reset", RESET_SHARE * self._episode_s)
        return await self.screen()

    async def perform(self, action: Action) -> None:
        await self._wait("act", ACTION_SHARE * self._episode_s)
        self._step += 1

    async def screen(self) -> Screen:
        return blank(self._step)

    async def close(self) -> None:
        return

    async def _wait(self, kind: str, seconds: float) -> None:
        now = asyncio.get_running_loop().time
        started_at = now()
        try:
            await asyncio.sleep(seconds)
        finally:  # also when the run ends meanwhile
            self._uses.add(self._slot, kind, started_at, now())


class ScriptedPolicyClient:
    """Waits a fixed time per decision, taps, and declares done after the last action. A `PolicyClient`."""

    def __init__(self, think_s: float) -> None:
        self.version = 0
        self._think_s = think_s

    async def act(self, prompt: Prompt) -> Decision:
        version = self.version
        await asyncio.sleep(self._think_s)
        done = int(prompt.screen.foreground) >= ACTIONS
        action, text = (Done(), "done") if done else (Tap(500, 500), "tap 500 500")
        return Decision(action, text, (1, 2), (-0.5, -0.5), 0.5, version)

    async def load(self, weights: VersionedWeights) -> None:
        self.version = weights.version

    def known_features(self, digests: Sequence[str]) -> Features:
        return {}


class WaitingSuite:
    """Tasks that differ in how long they take."""

    name = "wait"
    splits = ("train",)

    @property
    def templates(self) -> Mapping[str, Any]:
        return dict.fromkeys(TEMPLATES)

    def tasks(self, split: str, count: int, seed: int) -> list[Task]:
        rng = random.Random(f"wait/{seed}")
        return [self._task(split, seed, number, rng) for number in range(count)]

    def only(self, names: Sequence[str]) -> WaitingSuite:
        return self

    def _task(self, split: str, seed: int, number: int, rng: random.Random) -> Task:
        place = number % len(TEMPLATES)
        inside = min(max(rng.random(), 1e-9), 1.0 - 1e-9)
        return Task(
            id=f"wait/{seed}/{number}",
            suite=self.name,
            split=split,
            template=TEMPLATES[place],
            goal="wait",
            seed=number,
            max_steps=ACTIONS + 1,
            params={"quantile": (place + inside) / len(TEMPLATES)},
        )
