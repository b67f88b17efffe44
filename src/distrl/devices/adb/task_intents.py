"""Intents of simulated phones beyond Android's: reset to a task, and return the evidence for a judge.

The protocol between the `adb://` driver and `distrl.phone_server`: command lines for `adb shell`, and their answers.
Trees are sent as JSON in base64, which needs no shell quoting.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

from distrl.errors import CorruptData, DeviceError
from distrl.types import Task

RESET = "distrl.RESET"
EVIDENCE = "distrl.EVIDENCE"
OK = -1
"""What Android calls RESULT_OK."""
REFUSED = 1
ANSWER = re.compile(r'result=(-?\d+)(?:, data="([^"]*)")?')


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
            f"{text[:40]!r} is no JSON in base64 ({error}). Send it as `task_intents.pack` makes it."
        ) from error
