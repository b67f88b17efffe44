"""Answers the broadcasts of `distrl.devices.adb.task_intents` on a served phone."""

from __future__ import annotations

from typing import Any

from distrl.devices.adb.task_intents import EVIDENCE, OK, REFUSED, pack, unpack
from distrl.errors import CorruptData, DeviceError
from distrl.phone_server.phone import ServedPhone
from distrl.types import Tree


async def answer(phone: ServedPhone, action: str, extras: dict[str, str]) -> tuple[int, str]:
    """Result and data of a broadcast of ours."""
    if action == EVIDENCE:
        return OK, pack(phone.evidence())
    if phone.power.frozen:
        return REFUSED, pack("it is frozen; reboot it")
    try:
        seed, start = _task(unpack(extras.get("task", "")))
        await phone.reset(seed, start)
    except (CorruptData, DeviceError) as error:
        return REFUSED, pack(str(error))
    return OK, pack("reset")


def _task(tree: Any) -> tuple[int, tuple[tuple[Any, ...], ...]]:
    """Seed and start edits of a task; its other fields are ignored."""
    task: Tree = tree if isinstance(tree, dict) else {}
    seed, start = task.get("seed"), task.get("start", [])
    if not isinstance(seed, int) or isinstance(seed, bool) or not isinstance(start, list):
        raise CorruptData("A task needs a whole number as seed and a list of edits as start.")
    if not all(isinstance(edit, list) and edit for edit in start):
        raise CorruptData("Every edit of a task is a list that begins with its kind.")
    return seed, tuple(tuple(edit) for edit in start)
