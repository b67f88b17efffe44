"""Small trajectories to store."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest

from distrl.types import Decision, Outcome, Screen, Step, Tap, Task, Trajectory


def build_trajectory(number: int = 0, *, kind: str = "success", steps: int = 3, version: int = 2) -> Trajectory:
    task = Task(f"task-{number}", "general", "train", "clock/alarm", 'Set "7:30" 🕢', number, 15, {"time": "7:30"})
    screens = [Screen(f"picture {number}/{i}".encode(), 192, 384, (), "clock") for i in range(steps + 1)]
    played = tuple(
        Step(
            screen,
            Decision(Tap(10, 20 * i), f"tap 10 {20 * i}", (5, 9, 1), (-0.5, -0.25, -1.0), 0.7, version, 0.4),
            0.1,
        )
        for i, screen in enumerate(screens[:-1])
    )
    id_ = str(uuid.UUID(int=number))
    return Trajectory(id_, task, played, Outcome(kind), screens[-1], "worker-0", "sim://phone#1", 100.0 + number, 4.0)


@pytest.fixture
def make() -> Callable[..., Trajectory]:
    return build_trajectory
