"""A synthetic training run for `bench weights`: waiting devices, a policy of given size, and timestamps of events.

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
from distrl.learner.learner import Learner, StepReport
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

ARRAY_MB = 16
"""Size of one weight array, about that of a layer."""
TASK_STEPS = 20


@dataclass(frozen=True)
class SyntheticLoad:
    """Size of the policy's weights, and duration of a learner step."""

    megabytes: float
    step_s: float


class Timestamps:
    """Event timestamps: lines of text, one file per process."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = (folder / f"{os.getpid()}.txt").open("a", buffering=1, encoding="utf-8")

    def put(self, kind: str, *values: object) -> None:
        self._file.write(" ".join((kind, *map(str, values))) + "\n")


def read_timestamps(folder: Path) -> dict[str, list[tuple[str, ...]]]:
    """Kind → (process, values …), in the order of each process."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, *values = line.split(" ")
            found.setdefault(kind, []).append((path.stem, *values))
    return found


class SyntheticPolicy:
    """Taps the middle. A `TrainablePolicy` that loads weights as `VlmPolicy` does: staged first, then swapped in."""

    def __init__(self, synthetic: SyntheticLoad, timestamps: Timestamps) -> None:
        self.version = 0
        self.temperature = 1.0
        self._timestamps = timestamps
        self._bias = torch.nn.Parameter(torch.zeros(2))
        pieces = max(1, round(synthetic.megabytes / ARRAY_MB))
        size = int(synthetic.megabytes * 2**20 / 4 / pieces)
        self._padding = {f"padding.{n}": torch.nn.Parameter(torch.rand(size)) for n in range(pieces)}

    def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
        return [Decision(Tap(500, 500), "tap 500 500", (1,), (-0.5,), 0.5, self.version) for _ in prompts]

    def weights(self) -> dict[str, Any]:
        """Called when a version is due: publishing begins now."""
        self._timestamps.put("publish", time.time())
        return {name: parameter.detach().numpy() for name, parameter in self._named().items()}

    def load(self, weights: VersionedWeights) -> None:
        self.stage(weights)()

    def stage(self, weights: VersionedWeights) -> Callable[[], None]:
        began, parameters = time.time(), self._named()
        ready = {name: torch.from_numpy(weights.arrays[name].copy()) for name in parameters}

        def swap_in() -> None:
            swapping = time.perf_counter()
            for name, parameter in parameters.items():
                parameter.data = ready[name]
            self.version = weights.version
            self._timestamps.put("applied", weights.version, began, time.time(), time.perf_counter() - swapping)

        return swap_in

    def score(self, prompts: Sequence[Prompt], token_ids: Sequence[Sequence[int]]) -> Scores:
        policy, critic = (value.expand(len(prompts)) for value in self._bias)
        return Scores(policy - 0.5, policy.detach() + 0.5, critic, critic)

    def policy_parameters(self) -> list[torch.nn.Parameter]:
        return [self._bias]

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
        folder.mkdir(parents=True, exist_ok=True)  # never loaded

    def _named(self) -> dict[str, torch.nn.Parameter]:
        return {"bias": self._bias, **self._padding}


class TimedDevice(NullDevice):
    """Records when it was busy."""

    def __init__(self, address: str, name: str, timestamps: Timestamps) -> None:
        super().__init__(address)
        self._name = name
        self._timestamps = timestamps

    async def reset(self, task: Task) -> Screen:
        began = time.time()
        screen = await super().reset(task)
        self._timestamps.put("busy", self._name, "reset", began, time.time())
        return screen

    async def perform(self, action: Action) -> None:
        began = time.time()
        await super().perform(action)
        self._timestamps.put("busy", self._name, "perform", began, time.time())


class DelayedLearner(Learner):
    """Sleeps before each step, to take time without using CPU."""

    step_s = 0.0

    def step(self, sample: Sample, source: ScreenSource) -> StepReport:
        time.sleep(self.step_s)
        return super().step(sample, source)


class IdenticalTasks:
    """A suite of tasks that differ only in their number."""

    name = "bench"
    templates: Mapping[str, Any] = {"bench/tap": None}

    def tasks(self, split: str, count: int, seed: int) -> list[Task]:
        numbers = [count * (seed % 100_000) + n for n in range(count)]
        return [Task(f"bench/{n}", "bench", split, "bench/tap", "tap", n, TASK_STEPS) for n in numbers]


class ParityJudge:
    """Succeeds on odd seeds."""

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        return Outcome("success" if task.seed % 2 else "failure")


class SyntheticBuilder(Builder):
    """Builds the parts of such a run."""

    def __init__(self, config: Config, synthetic: SyntheticLoad) -> None:
        super().__init__(config)
        self.synthetic = synthetic
        self._timestamps: Timestamps | None = None

    @property
    def timestamps_folder(self) -> Path:
        return self.folder / "marks"

    @property
    def timestamps(self) -> Timestamps:
        """Of this process."""
        if self._timestamps is None:
            self._timestamps = Timestamps(self.timestamps_folder)
        return self._timestamps

    def suite(self) -> Any:
        return IdenticalTasks()

    def judge(self) -> Any:
        return ParityJudge()

    async def device(self, worker: str, slot: int) -> Device:
        return TimedDevice(self.config.devices.address, f"{worker}/{slot}", self.timestamps)

    def policy(self, seed: int, device: str) -> Any:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        return SyntheticPolicy(self.synthetic, self.timestamps)

    def learner(self) -> Learner:
        policy = self.policy(0, "cpu")
        learner = DelayedLearner(policy, self.config, np.random.default_rng(0))
        learner.step_s = self.synthetic.step_s
        return learner
