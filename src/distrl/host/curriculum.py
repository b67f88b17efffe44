"""The curriculum: which task is handed out next."""

from __future__ import annotations

import random
from collections import deque
from typing import Literal

from distrl.tasks.base import Suite
from distrl.types import Task, Trajectory

TASKS_PER_REFILL = 512
AVERAGE_DECAY = 0.9
"""Decay of a template's moving average of success, per trajectory."""
EDGE_FLOOR = 0.05
"""Minimum weight of a template; with weight 0 it would never be played, nor its average updated, again."""


class Curriculum:
    """An endless, seeded stream of a split's tasks.

    uniform: every template once per round, in a new order each round. edge: templates drawn in proportion to
    p(1 − p) of their average success p, so that tasks that are neither too hard nor too easy are played most.
    Each task is drawn `group_size` times in a row.
    """

    def __init__(
        self, suite: Suite, split: str, kind: Literal["uniform", "edge"], *, seed: int, part: int, group_size: int = 1
    ) -> None:
        """`part` is the number of the host process within the run: a resumed run continues with other tasks."""
        self._suite = suite
        self._split = split
        self._kind = kind
        self._rng = random.Random(f"curriculum/{seed}/{part}")
        self._pools: dict[str, deque[Task]] = {}
        self._round: list[str] = []
        self._success: dict[str, float] = {}
        self._group_size = group_size
        self._group: list[Task] = []  # repetitions of the last task that are still to be drawn
        self._refill()

    def draw(self) -> Task:
        if not self._group:
            self._group = [self._new()] * self._group_size
        return self._group.pop()

    def learn_of(self, trajectory: Trajectory) -> None:
        """Update the success average of the trajectory's template."""
        template = trajectory.task.template
        before = self._success.get(template, 0.5)
        self._success[template] = AVERAGE_DECAY * before + (1.0 - AVERAGE_DECAY) * trajectory.reward

    def _new(self) -> Task:
        template = self._next_in_round() if self._kind == "uniform" else self._near_the_edge()
        while not self._pools[template]:
            self._refill()
        return self._pools[template].popleft()

    def _next_in_round(self) -> str:
        if not self._round:
            self._round = sorted(self._pools)
            self._rng.shuffle(self._round)
        return self._round.pop()

    def _near_the_edge(self) -> str:
        templates = sorted(self._pools)
        averages = [self._success.get(template, 0.5) for template in templates]
        weights = [max(EDGE_FLOOR, 4.0 * average * (1.0 - average)) for average in averages]
        return self._rng.choices(templates, weights)[0]

    def _refill(self) -> None:
        # A suite spreads its tasks evenly over the templates, so that one refill serves them all.
        for task in self._suite.tasks(self._split, TASKS_PER_REFILL, self._rng.randrange(2**31)):
            self._pools.setdefault(task.template, deque()).append(task)
