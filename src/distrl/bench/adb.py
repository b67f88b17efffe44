"""Steps per second over adb:// against what adbutils alone reaches in a bare loop, on the same served phones.

A step is a tap and a screenshot. Ours goes through the device class: the foreground app is checked before the tap, its
exit status after it; the screenshot is validated and encoded; every call has a timeout. adbutils is used as documented,
`click` and `screenshot`, with a thread per phone; and once more with `framebuffer`, which its documentation does not
show and calls not very stable, but which saves the phone a PNG encoding. All use one adb server, start on the same
screens and tap the same places. They take turns, so that other load on the machine affects all.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from adbutils import AdbClient, AdbDevice

from distrl.bench._phone_processes import served_phones
from distrl.devices.adb.connection import HOST
from distrl.devices.adb.device import AdbPhone
from distrl.devices.adb.server import acquire_server, release_server
from distrl.evaluation.statistics import paired_ratio_ci95
from distrl.types import COORDINATE_MAX, Tap, Task

OURS = "distrl"
BARE = ("screenshot", "framebuffer")
"""adbutils' ways to take a screenshot."""
BAR = 0.9
WARM_UP_S = 1.0


def run(
    phones: int = 32,
    seconds: float = 6.0,
    repeats: int = 8,
    processes: int = 2,
    device: str = "sim://phone",
    seed: int = 0,
) -> dict[str, Any]:
    """Per repeat each contender steps `phones` phones for `seconds`, each time in another order.

    `ratio` is ours over each of adbutils' ways, with the ends of its 95 % interval (bootstrap over repeats). `device`
    may slow the phones down: sim://phone?latency=emulator.
    """
    with served_phones(phones, processes, device, seed) as serials:
        return asyncio.run(_measure(serials, seconds, repeats, seed))


async def _measure(serials: list[str], seconds: float, repeats: int, seed: int) -> dict[str, Any]:
    server = acquire_server(scans=False)
    devices = [AdbPhone(f"adb://{serial}", name="bench/0") for serial in serials]
    try:
        bench = AdbBench(devices, serials, await asyncio.to_thread(server.ensure))
        for name in (OURS, *BARE):
            await bench.play(name, min(WARM_UP_S, seconds), seed)
        rounds: dict[str, list[ContenderRound]] = {name: [] for name in (OURS, *BARE)}
        for repeat in range(repeats):
            for name in _order(repeat):
                rounds[name].append(await bench.play(name, seconds, seed + repeat))
        return figures(rounds, seed)
    finally:
        await asyncio.gather(*(one.close() for one in devices))
        release_server(server)


def _order(repeat: int) -> list[str]:
    """Rotates, so that every contender is first, in the middle and last equally often."""
    names = [OURS, *BARE]
    return names[repeat % len(names) :] + names[: repeat % len(names)]


@dataclass
class ContenderRound:
    """Measurements of one contender in one round."""

    seconds: float = 0.0
    cpu_s: float = 0.0
    tap_s: list[float] = field(default_factory=list)
    look_s: list[float] = field(default_factory=list)

    @property
    def steps_per_s(self) -> float:
        return len(self.look_s) / self.seconds


class AdbBench:
    """The phones under test, and the step loop of each contender."""

    def __init__(self, devices: list[AdbPhone], serials: list[str], port: int) -> None:
        self._devices, self._serials, self._port = devices, serials, port
        self._sizes: list[tuple[int, int]] = []

    async def play(self, name: str, seconds: float, seed: int) -> ContenderRound:
        """Reset every phone to the same state for all contenders, then measure."""
        screens = await asyncio.gather(*(one.reset(_task(seed, k)) for k, one in enumerate(self._devices)))
        self._sizes = [(screen.width, screen.height) for screen in screens]
        done = ContenderRound()
        began, cpu_before = time.perf_counter(), time.process_time()
        until = began + seconds
        await (self._ours(done, until, seed) if name == OURS else self._bare(name, done, until, seed))
        done.seconds, done.cpu_s = time.perf_counter() - began, time.process_time() - cpu_before
        return done

    async def _ours(self, done: ContenderRound, until: float, seed: int) -> None:
        async def steps(device: AdbPhone, places: Iterator[Tap]) -> None:
            while (start := time.perf_counter()) < until:
                await device.perform(next(places))
                tapped = time.perf_counter()
                await device.screen()
                _record_step(done, start, tapped)

        await asyncio.gather(*(steps(device, _places(seed, k)) for k, device in enumerate(self._devices)))

    async def _bare(self, look: str, done: ContenderRound, until: float, seed: int) -> None:
        def steps(device: AdbDevice, places: Iterator[Tap], size: tuple[int, int]) -> None:
            picture: Callable[[], Any] = device.screenshot if look == "screenshot" else device.framebuffer
            while (start := time.perf_counter()) < until:
                place = next(places)
                device.click(place.x * size[0] // COORDINATE_MAX, place.y * size[1] // COORDINATE_MAX)
                tapped = time.perf_counter()
                picture().load()
                _record_step(done, start, tapped)

        client = AdbClient(host=HOST, port=self._port)
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(len(self._serials)) as threads:
            await asyncio.gather(
                *(
                    loop.run_in_executor(threads, steps, client.device(serial), _places(seed, k), self._sizes[k])
                    for k, serial in enumerate(self._serials)
                )
            )


def _record_step(done: ContenderRound, start: float, tapped: float) -> None:
    done.tap_s.append(tapped - start)
    done.look_s.append(time.perf_counter() - tapped)


def _places(seed: int, phone: int) -> Iterator[Tap]:
    """Where to tap: the same for all contenders."""
    rng = random.Random(f"{seed}/{phone}")
    while True:
        yield Tap(rng.randrange(COORDINATE_MAX), rng.randrange(COORDINATE_MAX))


def _task(seed: int, phone: int) -> Task:
    return Task(f"bench/{seed}/{phone}", "bench", "train", "bench/adb", "", seed * 100_000 + phone, 1)


def figures(rounds: dict[str, list[ContenderRound]], seed: int) -> dict[str, Any]:
    rates = {name: [one.steps_per_s for one in mine] for name, mine in rounds.items()}
    ratios = {name: paired_ratio_ci95(rates[OURS], rates[name], seed) for name in BARE}
    return {
        **{name: _row(mine) for name, mine in rounds.items()},
        "ratio": {name: {"is": r.estimate, "low": r.low, "high": r.high} for name, r in ratios.items()},
        "bar": {"at_least": BAR, "met_over": {name: ratio.estimate >= BAR for name, ratio in ratios.items()}},
    }


def _row(rounds: list[ContenderRound]) -> dict[str, Any]:
    steps = sum(len(one.look_s) for one in rounds)
    taps, looks = ([1000 * s for one in rounds for s in getattr(one, kind)] for kind in ("tap_s", "look_s"))
    return {
        "steps_per_s": [one.steps_per_s for one in rounds],
        "steps": steps,
        "cpu_ms_per_step": 1000 * sum(one.cpu_s for one in rounds) / steps,
        "tap_ms": _percentiles(taps),
        "look_ms": _percentiles(looks),
    }


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=20, method="inclusive")
    return {"p50": cuts[9], "p95": cuts[18]}
