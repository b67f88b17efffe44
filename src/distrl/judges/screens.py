"""The screen judge, for tasks from a file that name their own rules: checks the last screen, on any phone.

The rules are the task's parameter `judge`; all of them must hold:
    foreground   package of the app in front
    shows        texts that some element on the screen contains; needs the UI tree (`tree=1` in an adb:// address)
    answer       texts that the agent's answer contains
Case and white space are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from distrl.errors import CannotJudge
from distrl.judges.rules import unfinished
from distrl.types import Action, Answer, Outcome, Screen, Task, Trajectory, Tree

PARAMETER = "judge"
SERVED_PREFIX = "org.distrl."
"""Package prefix of simulated phones, whose screens name apps without it."""


class ScreenJudge:
    """Success: the agent declared the task done, and every rule of the task holds."""

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        rules = task.params.get(PARAMETER)
        if not isinstance(rules, Mapping) or trajectory.last_screen is None:
            raise CannotJudge(
                f"{task.template!r} has no rule that a screen can decide. Give it one (docs/tasks.md), or set "
                "judge.kind to vlm or chain."
            )
        last = trajectory.steps[-1].decision.action if trajectory.steps else None
        reason = unfinished(last) or unmet(rules, trajectory.last_screen, last)
        return Outcome("failure", reason) if reason else Outcome("success")


def unmet(rules: Mapping[str, Any], screen: Screen, last: Action | None) -> str:
    """The first rule that does not hold, in words, or an empty string. Raises `CannotJudge` without a UI tree."""
    front = {screen.foreground, f"{SERVED_PREFIX}{screen.foreground}"}
    if not all(package in front for package in _texts(rules, "foreground")):
        return f"{screen.foreground or 'nothing known'} is in front"
    answer = last.text if isinstance(last, Answer) else ""
    if missing := _missing(_texts(rules, "answer"), [answer]):
        return f"the answer does not say {missing!r}"
    shown = _texts(rules, "shows")
    if shown and not screen.elements:
        raise CannotJudge(
            "The texts on the screen are not known: it came without its UI tree. Add tree=1 to devices.address, or "
            "set judge.kind=chain to have a model look."
        )
    missing = _missing(shown, [element.text for element in screen.elements])
    return f"the screen does not show {missing!r}" if missing else ""


def _texts(rules: Mapping[str, Any], name: str) -> Sequence[str]:
    return list(rules.get(name, ()))


def _missing(wanted: Sequence[str], texts: Sequence[str]) -> str:
    held = [_plain(text) for text in texts]
    return next((text for text in wanted if not any(_plain(text) in one for one in held)), "")


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
