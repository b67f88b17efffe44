"""A small run, made up but whole: real tasks and screens, played by oracles; some are cut short, to fail."""

from __future__ import annotations

import asyncio
import random
import uuid
from pathlib import Path

import pytest

from distrl.config import Config
from distrl.devices.sim.device import SimPhone
from distrl.evaluation.oracle import play_oracle
from distrl.policies.actions import format_action
from distrl.store.provenance import hardware
from distrl.store.run import RunStore
from distrl.tasks.base import load_suite
from distrl.types import Decision, Done, Invalid, Outcome, Screen, Step, Swipe, Tap, Task, Trajectory

META = {
    "code": "0123abc",
    "libraries": {"numpy": "2.0", "torch": "2.4"},
    "hardware": hardware(),
    "seed": 0,
    "command": ["distrl", "train", "quickstart"],
    "date": "2025-03-01T12:00:00+00:00",
}


class Studio:
    """Makes trajectories out of demonstrations."""

    def __init__(self, tasks: int, seed: int = 0) -> None:
        self.rng = random.Random(seed)
        device = SimPhone("sim://phone")
        suite = load_suite("general")
        self.scenes = [
            (task, asyncio.run(play_oracle(device, task))) for task in suite.tasks("test-instances", tasks, seed=seed)
        ]

    def episode(self, number: int, *, success: bool, version: int, started_at: float) -> Trajectory:
        task, demonstration = self.scenes[number % len(self.scenes)]
        scenes = demonstration.steps if success else self._astray(demonstration.steps)
        steps = tuple(
            self._step(screen, action, place / len(scenes), success, version)
            for place, (screen, action) in enumerate(scenes)
        )
        outcome = Outcome("success" if success else "failure")
        id_ = str(uuid.UUID(int=self.rng.getrandbits(128), version=4))
        last = demonstration.last_screen if success else scenes[-1][0]
        return Trajectory(id_, task, steps, outcome, last, "worker-0", "sim://phone#1", started_at, 1.4 * len(steps))

    def _astray(self, scenes):
        """Half of the way, some taps that change nothing, and a claim to be done."""
        kept = list(scenes[: max(1, len(scenes) // 2)])
        stuck = kept[-1][0]
        wrong = [Tap(10 * self.rng.randint(5, 95), 10 * self.rng.randint(10, 90)), Swipe(500, 700, 500, 300)]
        return [
            *kept,
            *((stuck, action) for action in wrong),
            (stuck, Invalid("tap 40", "two numbers")),
            (stuck, Done()),
        ]

    def _step(self, screen: Screen, action, progress: float, success: bool, version: int) -> Step:
        text = action.text if isinstance(action, Invalid) else format_action(action)
        value = 0.35 + (0.5 if success else -0.2) * progress + self.rng.uniform(-0.04, 0.04)
        entropy = 0.9 / (1 + version / 60) + self.rng.uniform(0, 0.1)
        return Step(screen, Decision(action, text, (3, 1, 2), (-0.2, -0.1, -0.05), entropy, version, value), 1.4)


def build_run(folder: Path, *, tasks: int, trajectories: int) -> Path:
    """A run that gets better: 40 % before, about 70 % after."""
    studio = Studio(tasks)
    rng = studio.rng
    config = Config().model_dump(mode="json") | {"run": {"name": folder.name, "seed": 0, "minutes": 9.0}}
    with RunStore.create(folder, config, META) as store:
        store.add_evaluation("before", 0, _examination(studio, tasks, 0.40, 0, 0.0), at=0.0)
        for number in range(trajectories):
            progress = number / trajectories
            version = number // 4
            won = rng.random() < 0.4 + 0.32 * progress**0.7
            at = 60 + 540 * progress
            played = studio.episode(
                number, success=won, version=max(0, version - rng.choice([0, 1, 1, 2, 3])), started_at=at
            )
            store.add_trajectory(played, version)
            if number % 4 == 3:
                losses = {"loss/policy": 0.3 - 0.2 * progress, "loss/value": 0.6 - 0.3 * progress**0.5}
                extra = {"loss/trajectory_value": 0.5 - 0.2 * progress, "gradient/policy": 1.0}
                noisy = {name: value + rng.gauss(0, 0.03) for name, value in (losses | extra).items()}
                store.add_metrics(version, noisy, at)
        store.add_evaluation(
            "after", trajectories // 4, _examination(studio, tasks, 0.70, trajectories // 4, 700.0), at=700.0
        )
        store.add_event("end", "finished", 700.0)
    return folder


def _examination(studio: Studio, tasks: int, skill: float, version: int, at: float) -> list[Trajectory]:
    hardness = [
        random.Random(f"{task.template}/{number // 2}").random() for number, (task, _) in enumerate(studio.scenes)
    ]
    return [
        studio.episode(number, success=hardness[number] < skill, version=version, started_at=at)
        for number in range(tasks)
    ]


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory) -> Path:
    return build_run(tmp_path_factory.mktemp("runs") / "quickstart", tasks=12, trajectories=40)


@pytest.fixture
def attack() -> Task:
    return Task("1", "general", "train", "<b>bold</b>", '<img src=x onerror="alert(1)">', 0, 5)
