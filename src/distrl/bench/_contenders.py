"""Replay buffers behind one interface, for `bench replay`: ours, and those of other libraries that are installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any, Protocol

import numpy as np

from distrl.config import ReplayConfig
from distrl.replay.base import Sample
from distrl.replay.buffer import PRIORITY_FLOOR, ReplayBuffer
from distrl.types import Decision, Done, Floats, Outcome, Screen, Step, Task, Trajectory

BETA = 0.4
STEPS = 8
"""Steps of a trajectory whose insertion is timed. Those that fill the buffer have one, or a million would not fit."""
CHUNK = 10_000
IMAGE = b"\xff\xd8" + bytes(20_000)


class Contender(Protocol):
    """A full buffer. `update` takes what `sample` returned."""

    def fill(self, priorities: Floats) -> None:
        """Item i at place i with priority i."""

    def items(self, count: int) -> list[Any]:
        """New items for `insert`."""

    def insert(self, item: Any) -> None: ...

    def sample(self, count: int) -> Any: ...

    def update(self, sample: Any, priorities: Floats) -> None: ...

    def places(self, sample: Any) -> Any:
        """Indices of the sampled items; called before anything is inserted."""


class Ours:
    """Whole trajectories."""

    def __init__(self, capacity: int, alpha: float, seed: int) -> None:
        config = ReplayConfig(capacity=capacity, priority_exponent=alpha, importance_exponent=BETA)
        self._buffer = ReplayBuffer(config, np.random.default_rng(seed))
        self._made = 0

    def fill(self, priorities: Floats) -> None:
        for trajectory in self._trajectories(len(priorities), steps=1):
            self._buffer.insert(trajectory)
        for first in range(0, len(priorities), CHUNK):
            chunk = priorities[first : first + CHUNK]
            self._buffer.update([str(first + n) for n in range(len(chunk))], chunk)

    def items(self, count: int) -> list[Trajectory]:
        return self._trajectories(count, STEPS)

    def insert(self, item: Trajectory) -> None:
        self._buffer.insert(item)

    def sample(self, count: int) -> Sample:
        return self._buffer.sample(count)

    def update(self, sample: Sample, priorities: Floats) -> None:
        self._buffer.update(sample.ids, priorities)

    def places(self, sample: Sample) -> Any:
        return np.array(sample.ids, dtype=np.int64)

    def _trajectories(self, count: int, steps: int) -> list[Trajectory]:
        decision = Decision(Done(), "done", (1, 2), (-0.5, -0.1), 0.3, policy_version=0)
        played = tuple(Step(Screen(IMAGE if steps > 1 else b"", 360, 640), decision) for _ in range(steps))
        first, self._made = self._made, self._made + count
        return [_trajectory(number, played) for number in range(first, self._made)]


def _trajectory(number: int, steps: tuple[Step, ...]) -> Trajectory:
    """Two trajectories per task, because sampling also computes group statistics."""
    task = Task(f"task-{number // 2}", "bench", "train", "bench/replay", "", number, len(steps))
    return Trajectory(f"{number}", task, steps, Outcome("success" if number % 3 else "failure"))


class Cpprb:
    """cpprb's prioritised buffer, written in C++."""

    def __init__(self, capacity: int, alpha: float, seed: int) -> None:
        import cpprb

        fields = {"number": {"dtype": np.int64}}
        self._buffer = cpprb.PrioritizedReplayBuffer(capacity, fields, alpha=alpha, eps=PRIORITY_FLOOR)

    def fill(self, priorities: Floats) -> None:
        self._buffer.add(number=np.arange(len(priorities)), priorities=priorities)

    def items(self, count: int) -> list[int]:
        return list(range(count))

    def insert(self, item: int) -> None:
        self._buffer.add(number=item)

    def sample(self, count: int) -> Any:
        return self._buffer.sample(count, BETA)

    def update(self, sample: Any, priorities: Floats) -> None:
        self._buffer.update_priorities(sample["indexes"], priorities)

    def places(self, sample: Any) -> Any:
        return sample["number"].ravel()


class TorchRl:
    """torchrl's prioritised buffer: a tree in C++, storage in tensors."""

    def __init__(self, capacity: int, alpha: float, seed: int) -> None:
        import torch
        from torchrl.data import LazyTensorStorage, PrioritizedReplayBuffer

        torch.set_num_threads(1)
        storage = LazyTensorStorage(capacity)
        self._buffer = PrioritizedReplayBuffer(
            alpha=alpha, beta=BETA, eps=PRIORITY_FLOOR, storage=storage, batch_size=256
        )

    def fill(self, priorities: Floats) -> None:
        import torch

        places = torch.arange(len(priorities))
        self._buffer.extend(places)
        self._buffer.update_priority(places, torch.from_numpy(priorities))

    def items(self, count: int) -> list[Any]:
        import torch

        return [torch.tensor(number) for number in range(count)]

    def insert(self, item: Any) -> None:
        self._buffer.add(item)

    def sample(self, count: int) -> Any:
        return self._buffer.sample(count, return_info=True)

    def update(self, sample: Any, priorities: Floats) -> None:
        import torch

        self._buffer.update_priority(sample[1]["index"], torch.from_numpy(priorities))

    def places(self, sample: Any) -> Any:
        return sample[0].numpy()


OTHERS: dict[str, Callable[..., Contender]] = {"cpprb": Cpprb, "torchrl": TorchRl}


def available() -> tuple[dict[str, Callable[..., Contender]], dict[str, str]]:
    """The contenders that can be measured here, and why the others cannot."""
    makers: dict[str, Callable[..., Contender]] = {"distrl": Ours}
    missing: dict[str, str] = {}
    for name, maker in OTHERS.items():
        try:
            version = metadata.version(name)
            rehearse(maker)
        except metadata.PackageNotFoundError:
            missing[name] = f"not installed; pip install {name}"
        except Exception as error:  # a broken library is reported; the others are measured
            missing[name] = f"{version} does not work here ({type(error).__name__}); its build must match this torch"
        else:
            makers[name] = maker
    return makers, missing


def rehearse(maker: Callable[..., Contender]) -> None:
    """Call every operation once, as a smoke test."""
    contender = maker(4, 0.5, 0)
    contender.fill(np.ones(4))
    contender.insert(contender.items(1)[0])
    contender.update(contender.sample(2), np.ones(2))


def versions(names: Sequence[str] | dict[str, Any]) -> dict[str, str]:
    return {name: metadata.version(name) for name in names}
