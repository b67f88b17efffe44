"""What a test asks of a served phone beyond Android: be reset to a task, and show the evidence to a judge.

Both sides are here: the command lines that a client sends with `adb shell`, and how the phone answers them. Trees
travel as JSON in base64, which no shell touches.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

from distrl.devices.adbd.phone import ServedPhone
from distrl.errors import CorruptData, DeviceError
from distrl.types import Task, Tree

RESET = "distrl.RESET"
EVIDENCE = "distrl.EVIDENCE"
OK = -1
"""What Android calls RESULT_OK."""
REFUSED = 1
ANSWER = re.compile(r'result=(-?\d+)(?:, data="([^"]*)")?')


# --- the client's side --------------------------------------------------------------------------


def reset_command(task: Task) -> list[str]:
    """The words of the command that resets a served phone to a task."""
    tree = {"seed": task.seed, "start": task.start}
    return ["am", "broadcast", "-a", RESET, "--es", "task", pack(tree)]


def evidence_command() -> list[str]:
    return ["am", "broadcast", "-a", EVIDENCE]


def read_answer(output: str) -> Any:
    """The tree in the phone's answer. Raises `DeviceError` when it refused, or is no phone of ours."""
    match = ANSWER.search(output)
    if match is None or int(match[1]) != OK:
        said = unpack(match[2]) if match and match[2] else output.strip() or "nothing"
        raise DeviceError(f"The phone did not do it, and said: {said}. Only a phone of `distrl phone` can.")
    return unpack(match[2])


def pack(tree: Any) -> str:
    return base64.b64encode(json.dumps(tree).encode()).decode()


def unpack(text: str) -> Any:
    try:
        return json.loads(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise CorruptData(
            f"{text[:40]!r} is no JSON in base64 ({error}). Send it as `requests.pack` makes it."
        ) from error


# --- the phone's side ---------------------------------------------------------------------------


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
    """Seed and start edits; whatever else a task has is not the phone's business."""
    task: Tree = tree if isinstance(tree, dict) else {}
    seed, start = task.get("seed"), task.get("start", [])
    if not isinstance(seed, int) or isinstance(seed, bool) or not isinstance(start, list):
        raise CorruptData("A task needs a whole number as seed and a list of edits as start.")
    if not all(isinstance(edit, list) and edit for edit in start):
        raise CorruptData("Every edit of a task is a list that begins with its kind.")
    return seed, tuple(tuple(edit) for edit in start)
