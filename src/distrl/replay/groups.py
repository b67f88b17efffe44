"""Per task, how many trajectories are in the buffer and their mean outcome."""

from __future__ import annotations

import numpy as np

from distrl.replay.priorities import Indices
from distrl.types import Floats


class Groups:
    """Counts updated on insertion and eviction, so that sampling cost does not depend on group size.

    Rewards are 0 or 1: a group's count and sum say everything about it. Owned by the buffer.
    """

    def __init__(self, capacity: int) -> None:
        self._numbers: dict[str, int] = {}  # task → its index in `_counts` and `_sums`
        self._free = list(range(capacity - 1, -1, -1))  # a buffer has no more groups than slots
        self._of_slot = np.zeros(capacity, dtype=np.int64)
        self._counts = np.zeros(capacity)
        self._sums = np.zeros(capacity)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, slot: int, task_id: str, reward: float) -> None:
        number = self._numbers.get(task_id)
        if number is None:
            number = self._numbers[task_id] = self._free.pop()
        self._of_slot[slot] = number
        self._counts[number] += 1.0
        self._sums[number] += reward

    def remove(self, slot: int, task_id: str, reward: float) -> None:
        """An empty group is dropped."""
        number = int(self._of_slot[slot])
        self._counts[number] -= 1.0
        self._sums[number] -= reward
        if not self._counts[number]:
            del self._numbers[task_id]
            self._free.append(number)

    def describe(self, slots: Indices) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the rewards in the group of each slot."""
        numbers = self._of_slot[slots]
        mean = self._sums[numbers] / self._counts[numbers]
        return mean, np.sqrt(mean * (1.0 - mean))
