"""The oracle plays whole tasks on a served phone, seeing and acting through adb alone, and the judge agrees."""

from __future__ import annotations

import asyncio
import base64
import re
import xml.etree.ElementTree as ET

import pytest
from served import adb_server, programs, served

from distrl.devices.adbd import requests
from distrl.devices.adbd.packages import app_of
from distrl.devices.sim.device import SimPhone
from distrl.evaluation.oracle import as_trajectory, play_oracle
from distrl.judges.rules import RuleJudge
from distrl.tasks.base import SUITES, load_suite
from distrl.types import Element, LongPress, Press, Screen, Swipe, Tap, Type

adbutils = pytest.importorskip("adbutils", reason="adbutils is not installed: pip install -e '.[dev]'")

FEW = 8
KEYS = {"home": "HOME", "back": "BACK", "enter": "ENTER"}


class OverAdb:
    """As little of a device as an oracle and a judge need: the UI tree, fingers, keys, ADBKeyBoard, evidence."""

    def __init__(self, device, address: str) -> None:
        self.address = address
        self._shell = device.shell

    async def reset(self, task):
        assert requests.read_answer(self._shell(requests.reset_command(task))) == "reset"
        self._shell("ime set com.android.adbkeyboard/.AdbIME")
        return await self.screen()

    async def perform(self, action):
        match action:
            case Tap(x, y):
                self._shell(f"input tap {_at(x, y)}")
            case LongPress(x, y):
                self._shell(f"input swipe {_at(x, y)} {_at(x, y)} 800")
            case Swipe(x, y, to_x, to_y):
                self._shell(f"input swipe {_at(x, y)} {_at(to_x, to_y)} 200")
            case Type(text):
                message = base64.b64encode(text.encode()).decode()
                self._shell(["am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", message])
            case Press(key):
                self._shell(f"input keyevent {KEYS[key]}")

    async def screen(self):
        shown = self._shell("uiautomator dump /dev/tty").rpartition("UI hierchary")[0]
        window, *nodes = ET.fromstring(shown).iter("node")
        return Screen(shown.encode(), 192, 384, tuple(map(_element, nodes)), app_of(window.get("package")))

    async def close(self):
        pass

    def evidence(self):
        return requests.read_answer(self._shell(requests.evidence_command()))


def _at(x: int, y: int) -> str:
    return f"{x * 0.192:.3f} {y * 0.384:.3f}"


def _element(node: ET.Element) -> Element:
    left, top, right, bottom = map(int, re.findall(r"\d+", node.get("bounds")))
    role = node.get("resource-id").partition(":id/")[2]
    checked = node.get("checked") == "true" if node.get("checkable") == "true" else None
    text = node.get("text") or node.get("content-desc")
    flags = (node.get("focused") == "true", node.get("clickable") == "true")
    return Element(text, role, (left, top, right, bottom), checked, *flags)


async def play(device, task):
    demonstration = await play_oracle(device, task)
    trajectory = as_trajectory(task, demonstration)
    outcome = await RuleJudge().judge(task, trajectory, device.evidence())
    return [action for _, action in demonstration.steps], outcome


@pytest.mark.parametrize("suite", SUITES)
def test_the_oracle_does_the_same_over_adb_with_the_same_outcome(suite, tmp_path):
    kind = next(iter(programs()), "adbutils")
    with served() as phones, adb_server(kind, tmp_path) as adb:
        adb("connect", phones.address)
        device = OverAdb(adbutils.AdbClient(port=adb.port).device(phones.address), phones.address)
        for task in load_suite(suite).tasks("train", FEW, seed=5):
            actions, outcome = asyncio.run(play(device, task))
            assert (actions, outcome) == asyncio.run(play(SimPhone("sim://phone"), task)), task.goal
            assert outcome.success, task.goal
