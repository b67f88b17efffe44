"""Plays a template's own solution on a device: for demonstrations, and to test that every task is solvable."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from distrl.devices.base import Device, Inspectable
from distrl.errors import ConfigError, UnknownName
from distrl.registry import SUITES
from distrl.tasks.base import Oracle, Params, ScreenDriver, load_suite
from distrl.types import Action, Decision, Done, Outcome, Screen, Step, Task, Trajectory, Tree, ends_episode


class Demonstration(NamedTuple):
    steps: list[tuple[Screen, Action]]
    """Each screen with the action taken on it; the last action ends the episode."""
    last_screen: Screen


async def play_oracle(device: Device, task: Task) -> Demonstration:
    """Let the task's oracle solve it. The step limit is not enforced: compare `len(steps)` with `task.max_steps`.

    Pop-ups are closed between any two actions of the oracle. If the oracle just ends, `done` is added.
    """
    oracle = oracle_of(task)
    ui = ScreenDriver()
    steps: list[tuple[Screen, Action]] = []
    screen = await device.reset(task)
    ui.look(screen, await _state(device))
    solution = oracle(ui, task.params)
    while True:
        action = ui.dismissal() or next(solution, Done())
        steps.append((ui.screen, action))
        if ends_episode(action):
            return Demonstration(steps, ui.screen)
        await device.perform(action)
        ui.look(await device.screen(), await _state(device))


def oracle_of(task: Task) -> Callable[[ScreenDriver, Params], Oracle]:
    """Raises `ConfigError` where there is none."""
    try:
        return load_suite(task.suite).templates[task.template].oracle
    except (UnknownName, KeyError):
        raise ConfigError(
            f"There is no oracle that solves {task.template!r} of {task.suite!r}: tasks of a file have none. "
            f"Demonstrations come from the suites {' and '.join(SUITES.names())}."
        ) from None


async def _state(device: Device) -> Tree:
    evidence = await device.evidence() if isinstance(device, Inspectable) else None
    return dict(evidence["after"]) if evidence else {}


def as_trajectory(task: Task, demonstration: Demonstration) -> Trajectory:
    """A demonstration as an unjudged trajectory; its decisions have no tokens."""
    steps = tuple(Step(screen, Decision(action, "", (), (), 0.0, 0)) for screen, action in demonstration.steps)
    return Trajectory(task.id, task, steps, Outcome("invalid", "not judged yet"), demonstration.last_screen)
