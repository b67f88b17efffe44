"""Steps per second of one simulated phone on one core, rendering and JPEG included, without latency."""

from __future__ import annotations

import asyncio
import random
import time
from typing import Any

from distrl.devices.sim.device import SimPhone
from distrl.types import Action, Press, Screen, Swipe, Tap, Task, Type

EPISODE_STEPS = 12


def run(seconds: float = 10.0, repeats: int = 3, seed: int = 0) -> dict[str, Any]:
    """Episodes of a monkey test that mostly taps clickable elements; a reset counts as a step.

    Steps per second of wall-clock fall when other programs share the core; steps per second of CPU time do not.
    """
    _measure(seconds / 10, seed)  # fills the caches of letters, icons and wallpapers
    rounds = [_measure(seconds / repeats, seed + repeat) for repeat in range(repeats)]
    return {name: [figures[name] for figures in rounds] for name in rounds[0]}


def _measure(seconds: float, seed: int) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    steps, changed = asyncio.run(_play(seconds, seed))
    return {
        "steps_per_s": steps / (time.perf_counter() - wall),
        "steps_per_cpu_s": steps / (time.process_time() - cpu),
        "screens_changed_share": changed / steps,
    }


async def _play(seconds: float, seed: int) -> tuple[int, int]:
    """Steps taken, and those of them after which the screen looked different."""
    rng = random.Random(seed)
    device = SimPhone("sim://phone", seed=seed, name="bench")
    steps, changed, episode = 0, 0, 0
    screen = await device.reset(_task(seed, episode))
    start = time.perf_counter()
    while steps == 0 or time.perf_counter() - start < seconds:
        before = screen.digest
        if steps % EPISODE_STEPS == 0:
            episode += 1
            screen = await device.reset(_task(seed, episode))
        else:
            await device.perform(monkey(screen, rng))
            screen = await device.screen()
        steps += 1
        changed += screen.digest != before
    return steps, changed


def _task(seed: int, episode: int) -> Task:
    name = f"bench/{seed}/{episode}"
    return Task(name, "bench", "train", "bench/monkey", "", seed * 100_000 + episode, EPISODE_STEPS)


def monkey(screen: Screen, rng: random.Random) -> Action:
    """A random action that is likely to do something."""
    chance = rng.random()
    clickable = [element for element in screen.elements if element.clickable and element.role != "key"]
    if chance < 0.75 and clickable:
        left, top, right, bottom = rng.choice(clickable).bounds
        x, y = (left + right) / 2 / screen.width, (top + bottom) / 2 / screen.height
        return Tap(round(1000 * x), round(1000 * y))
    if chance < 0.9:
        start, end = rng.choice(((700, 300), (300, 700)))
        return Swipe(500, start, 500, end)
    return Type("hello") if chance < 0.95 else Press("back")
