"""The oracle plays whole tasks on `sim://` and on `adb://`: the same screens, the same actions, the same outcome."""

from __future__ import annotations

import asyncio

import pytest
from served import served

from distrl.devices.open import open_device
from distrl.evaluation.oracle import as_trajectory, play_oracle
from distrl.judges.rules import RuleJudge
from distrl.registry import SUITES
from distrl.tasks.base import load_suite

FEW = 8


async def play(address: str, tasks):
    device = open_device(address, seed=0, name="test/0")
    try:
        return [await episode(device, task) for task in tasks]
    finally:
        await device.close()


async def episode(device, task):
    demonstration = await play_oracle(device, task)
    outcome = await RuleJudge().judge(task, as_trajectory(task, demonstration), await device.evidence())
    assert outcome.success, task.goal
    return demonstration


@pytest.mark.parametrize("suite", SUITES.names())
def test_the_oracle_sees_and_does_the_same_over_adb(suite):
    tasks = load_suite(suite).tasks("train", FEW, seed=5)
    with served(seed=99) as phones:
        over_adb = asyncio.run(play(f"adb://{phones.address}?tree=1", tasks))
    assert over_adb == asyncio.run(play("sim://phone", tasks))
