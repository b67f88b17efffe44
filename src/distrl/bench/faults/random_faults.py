"""Random faults at random times, for the soak."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

from distrl.bench.faults.rows import Injection, fill, ordered

KINDS: dict[str, Injection] = {
    "hang": ordered("hang"),
    "hang-input": ordered("hang-input"),
    "hang-screencap": ordered("hang-screencap"),
    "slow": ordered("slow"),
    "offline": ordered("offline"),
    "unplug": ordered("unplug", seconds=10.0),
    "freeze": ordered("freeze"),
    "pictures": ordered("empty-screencap", "truncated-screencap", "garbled-screencap"),
    "black": ordered("black-screencap"),
    "anr": ordered("anr"),
    "storage": fill,
    "reboot": lambda phone: phone.reboot(),
    "slow boot": ordered("slow-boot", seconds=10.0),
}
SERVER = "adb server"
SERVER_SHARE = 0.02
"""Share of the faults that kill the adb server; these affect all phones at once."""


async def inject_random_faults(
    fleet: Any, phones: int, every_s: float, rng: random.Random, note: Callable[[int, str], None]
) -> None:
    """Inject faults at random times, on average one per phone in `every_s`."""
    while True:
        await asyncio.sleep(rng.expovariate(phones / every_s))
        if rng.random() < SERVER_SHARE:
            await asyncio.to_thread(fleet.kill_server)
            for slot in range(phones):
                note(slot, SERVER)
            continue
        slot, name = rng.randrange(phones), rng.choice(sorted(KINDS))
        fleet.inject(slot, KINDS[name])
        if name == "slow boot":
            fleet.inject(slot, KINDS["reboot"])
        note(slot, name)
