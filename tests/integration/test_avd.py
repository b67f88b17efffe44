"""A worker plays on two emulators of one AVD; one of them is killed under it, and nothing is missing in the end."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Sequence

import emulated
import pytest
from processes import descendants

from distrl.config import Config
from distrl.errors import ConfigError, NoEmulator
from distrl.runtime.evaluation import MemorySpool, TaskList
from distrl.runtime.preflight import check
from distrl.runtime.topology import Builder
from distrl.store.codec import decode
from distrl.tasks.base import load_suite
from distrl.types import Decision, Done, Outcome, Press, Prompt, Receipt, Task

TASKS = 8
STEPS = 3


class PolicyClient:
    """Presses home a few times and calls it done; once two emulators are up it kills the one and goes on."""

    version = 0

    def __init__(self) -> None:
        self.killed = 0

    async def act(self, prompt: Prompt) -> Decision:
        while not self.killed and len(emulators()) < 2:
            await asyncio.sleep(0.05)
        if not self.killed:
            self.killed = emulators()[0]
            os.kill(self.killed, signal.SIGKILL)
        action = Press("home") if len(prompt.history) < STEPS else Done()
        return Decision(action, "x", (1,), (-0.5,), 0.1, self.version)

    async def load(self, weights: object) -> None:
        raise AssertionError

    def known_features(self, digests: object) -> dict[str, object]:
        return {}


class Sheet(TaskList):
    """Remembers every outcome, also of episodes that are played again."""

    def __init__(self, tasks: list[Task]) -> None:
        super().__init__("test", tasks)
        self.outcomes: list[Outcome] = []

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        self.outcomes += [decode(payload).outcome for payload in payloads]
        return await super().deliver(payloads)


def config(address: str, **devices: object) -> Config:
    return Config.model_validate({"devices": {"address": address, "per_worker": 2, **devices}})


@pytest.fixture
def sdk(tmp_path):
    with emulated.sdk(tmp_path) as sdk:
        yield sdk


def emulators() -> list[int]:
    """The stand-ins below this process."""
    return [pid for pid, command in descendants(os.getpid()).items() if "-m distrl.phone_server.emulator" in command]


def test_a_worker_plays_every_task_although_an_emulator_dies(sdk):
    policy_client, sheet = PolicyClient(), Sheet(load_suite("general").tasks("train", TASKS, seed=3))
    worker = Builder(config(f"avd://{emulated.NAME}?count=2")).worker(
        "worker", policy_client, sheet, time.time, MemorySpool()
    )
    asyncio.run(asyncio.wait_for(worker.run(), 2 * emulated.PATIENCE_S))
    assert {trajectory.outcome.kind for trajectory in sheet.results} <= {"success", "failure"}
    assert len(sheet.results) == TASKS
    lost = [outcome.reason for outcome in sheet.outcomes if outcome.kind == "invalid"]
    assert len(sheet.outcomes) - len(lost) == TASKS
    assert len(lost) <= 1  # at most the episode that it was playing; none if it was still starting
    assert all("its emulator ended" in reason for reason in lost)
    assert emulators() == []


def test_a_run_that_asks_for_more_emulators_than_it_may_have_does_not_start(sdk):
    with pytest.raises(ConfigError, match=r"asks for 2 phones.*starts 1\. Raise count, or set devices\.per_worker=1"):
        check(config(f"avd://{emulated.NAME}?count=1"))
    check(config(f"avd://{emulated.NAME}?count=2"))


@pytest.mark.parametrize(
    ("address", "message"),
    [("avd://Pixle_7", "Did you mean 'Pixel_7'"), (f"avd://{emulated.NAME}?snapshot=clean", "no snapshot 'clean'")],
)
def test_a_run_on_an_avd_that_is_not_there_does_not_start(sdk, address, message):
    with pytest.raises(NoEmulator, match=message):
        check(config(address))


def test_the_seats_of_an_avd_are_shared_by_all_and_come_free(sdk):
    async def play() -> None:
        async with emulated.phone("count=1") as first:
            await first.start()
            async with emulated.phone("count=1", slot=1) as second:
                with pytest.raises(NoEmulator, match="all 1 emulators of this AVD are in use"):
                    await second.start()
                await first.close()
                await second.start()
                assert (await second.screen()).image

    asyncio.run(play())
