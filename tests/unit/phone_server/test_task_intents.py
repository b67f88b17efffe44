"""A served phone is reset to a task and shows its evidence: as the simulated phone itself would."""

from __future__ import annotations

import asyncio
import shlex

import pytest
from served import typed

from distrl.devices.adb import task_intents
from distrl.devices.sim.device import SimPhone
from distrl.errors import CorruptData, DeviceError
from distrl.types import Tap, Task

TASK = Task("t", "s", "train", "clock/x", 'a "goal"', seed=11, max_steps=5, start=(("open", "clock", "alarms"),))


def ask(phone, command):
    return task_intents.read_answer(typed(phone, shlex.join(command))[1])


def test_the_phone_after_a_reset_is_the_one_behind_the_simulated_address(phone):
    assert ask(phone, task_intents.reset_command(TASK)) == "reset"
    device = SimPhone("sim://phone")
    screen = asyncio.run(device.reset(TASK))
    assert ask(phone, task_intents.evidence_command()) == asyncio.run(device.evidence())
    assert phone.render().elements == screen.elements
    typed(phone, f"input tap {400 * 0.192} {300 * 0.384}")
    asyncio.run(device.perform(Tap(400, 300)))
    assert ask(phone, task_intents.evidence_command()) == asyncio.run(device.evidence())


@pytest.mark.parametrize(
    "tree", [{"start": []}, {"seed": "1"}, {"seed": True}, {"seed": 1, "start": 5}, {"seed": 1, "start": [1]}, [], 7]
)
def test_what_is_no_task_is_refused_and_changes_nothing(phone, tree):
    before = phone.evidence()
    with pytest.raises(DeviceError, match="A task|Every edit"):
        ask(phone, ["am", "broadcast", "-a", task_intents.RESET, "--es", "task", task_intents.pack(tree)])
    assert phone.evidence() == before


def test_a_task_that_this_phone_cannot_start_is_refused(phone):
    with pytest.raises(DeviceError, match="nowhere"):
        ask(phone, task_intents.reset_command(Task("t", "s", "x", "y", "z", 1, 5, start=(("set", "nowhere/a", 1),))))


def test_a_page_that_is_not_there_is_refused(phone):
    with pytest.raises(DeviceError, match="page_nowhere"):
        ask(
            phone,
            task_intents.reset_command(Task("t", "s", "x", "y", "z", 1, 5, start=(("open", "clock", "nowhere"),))),
        )


def test_bytes_that_are_no_tree_are_refused(phone):
    with pytest.raises(DeviceError, match="base64"):
        ask(phone, ["am", "broadcast", "-a", task_intents.RESET, "--es", "task", "%%%"])
    with pytest.raises(CorruptData):
        task_intents.unpack("%%%")


def test_another_phone_does_not_know_these_requests():
    with pytest.raises(DeviceError, match="distrl phone"):
        task_intents.read_answer("Broadcasting: Intent { act=distrl.RESET }\nBroadcast completed: result=0\n")
    with pytest.raises(DeviceError, match="nothing"):
        task_intents.read_answer("")
