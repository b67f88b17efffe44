"""A world for `bench weights`: devices that wait, a policy that is nothing but weight, and marks of when what happened.

Host, learner, worker, policy server, leases and spool are those of a training run; see `distrl.runtime`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from distrl.config import Config
from distrl.devices.base import Device
from distrl.devices.null import NullDevice
from distrl.learner.base import ScreenSource
from distrl.learner.learner import Learner, Report
from distrl.policies.base import Scores
from distrl.replay.base import Sample
from distrl.runtime.topology import Builder
from distrl.types import (
    Action,
    Decision,
    Features,
    Outcome,
    Prompt,
    Screen,
    Tap,
    Task,
    Trajectory,
    Tree,
    VersionedWeights,
)

PIECE_MB = 16
"""A model is many arrays; these are as large as a layer's."""
TASK_STEPS = 20


@dataclass(frozen=True)
class Ballast:
    """How heavy the policy is, and how long the learner thinks before it has new weights."""

    megabytes: float
    step_s: float


class Marks:
    """Lines of text, one file per process, written as things happen."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"{os.getpid()}.txt").open("a", buffering=1, encoding="utf-8")

    def put(self, kind: str, *values: object) -> None:
        self._file.write(" ".join((kind, *map(str, values))) + "\n")


def read_marks(folder: Path) -> dict[str, list[tuple[str, ...]]]:
    """Kind → (process, values …), in the order of each process."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, *values = line.split(" ")
            found.setdefault(kind, []).append((path.stem, *values))
    return found


class BallastPolicy:
    """Taps the middle. A `TrainablePolicy` that takes weights as `VlmPolicy` does: made ready aside, then swapped."""

    def __init__(self, ballast: Ballast, marks: Marks) -> None:
        self.version = 0
        self.temperature = 1.0
        self._marks = marks
        self._tilt = torch.nn.Parameter(torch.zeros(2))
        pieces = max(1, round(ballast.megabytes / PIECE_MB))
        size = int(ballast.megabytes * 2**20 / 4 / pieces)
        self._cargo = {f"cargo.{n}": torch.nn.Parameter(torch.rand(size)) for n in range(pieces)}

    def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
        return [Decision(Tap(500, 500), "tap 500 500", (1,), (-0.5,), 0.5, self.version) for _ in prompts]

    def weights(self) -> dict[str, Any]:
        """Asked for when a version is due: this is when publishing begins."""
        self._marks.put("publish", time.time())
        return {name: parameter.detach().numpy() for name, parameter in self._named().items()}

    def load(self, weights: VersionedWeights) -> None:
        self.stage(weights)()

    def stage(self, weights: VersionedWeights) -> Callable[[], None]:
        began, parameters = time.time(), self._named()
        ready = {name: torch.from_numpy(weights.arrays[name].copy()) for name in parameters}

        def put_in_place() -> None:
            swapping = time.perf_counter()
            for name, parameter in parameters.items():
                parameter.data = ready[name]
            self.version = weights.version
            self._marks.put("applied", weights.version, began, time.time(), time.perf_counter() - swapping)

        return put_in_place

    def score(self, prompts: Sequence[Prompt], token_ids: Sequence[Sequence[int]]) -> Scores:
        policy, critic = (value.expand(len(prompts)) for value in self._tilt)
        return Scores(policy - 0.5, policy.detach() + 0.5, critic, critic)

    def policy_parameters(self) -> list[torch.nn.Parameter]:
        return [self._tilt]

    def critic_parameters(self) -> list[torch.nn.Parameter]:
        return []

    def known_features(self, digests: Sequence[str]) -> Features:
        return {}

    def missing(self, screens: Sequence[Screen]) -> list[str]:
        return []

    def remember(self, screens: Sequence[Screen]) -> None:
        return

    def adopt(self, screens: Sequence[Screen], features: Features) -> None:
        return

    def forget(self, digests: Sequence[str]) -> None:
        return

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)  # nobody will load it

    def _named(self) -> dict[str, torch.nn.Parameter]:
        return {"tilt": self._tilt, **self._cargo}


class MarkedDevice(NullDevice):
    """Notes from when to when it was busy."""

    def __init__(self, address: str, name: str, marks: Marks) -> None:
        super().__init__(address)
        self._name = name
        self._marks = marks

    async def reset(self, task: Task) -> Screen:
        began = time.time()
        screen = await super().reset(task)
        self._marks.put("busy", self._name, "reset", began, time.time())
        return screen

    async def perform(self, action: Action) -> None:
        began = time.time()
        await super().perform(action)
        self._marks.put("busy", self._name, "perform", began, time.time())


class ThinkingLearner(Learner):
    """Takes its time over a step, without burning CPU."""

    step_s = 0.0

    def step(self, sample: Sample, source: ScreenSource) -> Report:
        time.sleep(self.step_s)
        return super().step(sample, source)


class Errands:
    """A suite of tasks that differ in nothing but their number."""

    name = "bench"
    templates: Mapping[str, Any] = {"bench/tap": None}

    def tasks(self, split: str, count: int, seed: int) -> list[Task]:
        numbers = [count * (seed % 100_000) + n for n in range(count)]
        return [Task(f"bench/{n}", "bench", split, "bench/tap", "tap", n, TASK_STEPS) for n in numbers]


class Coin:
    """A judge that does not look."""

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        return Outcome("success" if task.seed % 2 else "failure")


class BallastBuilder(Builder):
    """The parts of such a run."""

    def __init__(self, config: Config, ballast: Ballast) -> None:
        super().__init__(config)
        self.ballast = ballast
        self._marks: Marks | None = None

    @property
    def marks_folder(self) -> Path:
        return self.folder / "marks"

    @property
    def marks(self) -> Marks:
        """Of this process."""
        if self._marks is None:
            self._marks = Marks(self.marks_folder)
        return self._marks

    def suite(self) -> Any:
        return Errands()

    def judge(self) -> Any:
        return Coin()

    async def device(self, worker: str, slot: int) -> Device:
        return MarkedDevice(self.config.devices.address, f"{worker}/{slot}", self.marks)

    def policy(self, seed: int, device: str) -> Any:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        return BallastPolicy(self.ballast, self.marks)

    def learner(self) -> Learner:
        policy = self.policy(0, "cpu")
        learner = ThinkingLearner(policy, self.config, np.random.default_rng(0))
        learner.step_s = self.ballast.step_s
        return learner
