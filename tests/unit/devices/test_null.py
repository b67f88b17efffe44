"""The device that does nothing: its waits, and what its address may say. The rest is in the contract suite."""

from __future__ import annotations

import asyncio

import pytest

from distrl.devices.open import open_device
from distrl.errors import ConfigError, UnknownName
from distrl.runtime.clock import run_virtually
from distrl.types import Tap, Task

TASK = Task("a", "bench", "train", "t", "", seed=1, max_steps=1)


def test_it_takes_as_long_as_its_address_says():
    async def use(loop):
        device = open_device("null://phone?action_s=1&reset_s=3", seed=0, name="a")
        began = loop.time()
        await device.reset(TASK)
        reset = loop.time()
        await device.perform(Tap(1, 1))
        await device.screen()
        return reset - began, loop.time() - reset

    assert run_virtually(use) == pytest.approx((3.0, 1.0), abs=0.01)


def test_neighbouring_tasks_show_different_screens():
    device = open_device("null://phone", seed=0, name="a")
    tasks = [Task(f"{seed}", "bench", "train", "t", "", seed=seed, max_steps=1) for seed in range(4096)]
    assert len({asyncio.run(device.reset(task)).digest for task in tasks[::97]}) == len(tasks[::97])


@pytest.mark.parametrize(
    ("address", "error"),
    [
        ("null://tablet", UnknownName),
        ("null://phone?wait=1", UnknownName),
        ("null://phone?action_s=soon", ConfigError),
        ("null://phone?action_s=-1", ConfigError),
    ],
)
def test_an_address_that_means_nothing_is_refused(address, error):
    with pytest.raises(error):
        open_device(address, seed=0, name="a")
