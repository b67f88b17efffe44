"""The circular replay buffer: whole trajectories, sampled by priority (DPER).

Invariants:
- a trajectory is in it once at most, whole, with its screens as references;
- no invalid outcome is ever in it;
- a group is all trajectories of one task in the buffer; sampling does not wait for a group to be complete;
- P(τ) ∝ p(τ)^α; a new trajectory gets the highest priority so far, so that it is soon sampled, unless
  `initial_priority` gives another one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from distrl.config import ReplayConfig
from distrl.replay.base import Sample
from distrl.replay.groups import Groups
from distrl.replay.priorities import Indices, SumTree
from distrl.types import Floats, Trajectory, Tree

PRIORITY_FLOOR = 1e-6
"""Every trajectory in the buffer keeps a small chance of being sampled."""


class ReplayBuffer:
    """Owned by the host. Deterministic: all randomness comes from the generator passed in."""

    def __init__(
        self,
        config: ReplayConfig,
        rng: np.random.Generator,
        initial_priority: Callable[[Trajectory], float] | None = None,
    ) -> None:
        """`initial_priority` gives the priority of a trajectory that was never sampled."""
        self.config = config
        self.rng = rng
        self.initial_priority = initial_priority
        self.tree = SumTree(config.capacity)
        self.priorities = np.zeros(config.capacity)
        self.rewards = np.zeros(config.capacity)
        self.steps = np.zeros(config.capacity)
        self.groups = Groups(config.capacity)
        self.slots: list[Trajectory] = []
        self.places: dict[str, int] = {}
        self.oldest = 0  # the slot that is written next once the buffer is full
        self.top = 1.0
        self.draws = 0

    def __len__(self) -> int:
        return len(self.slots)

    def __contains__(self, trajectory_id: str) -> bool:
        return trajectory_id in self.places

    def insert(self, trajectory: Trajectory) -> bool:
        """Keep it, in place of the oldest when full. False when its id is there already."""
        if trajectory.outcome.kind == "invalid":
            raise ValueError(
                f"Trajectory {trajectory.id} is invalid ({trajectory.outcome.reason}): it does not go into replay."
            )
        if not trajectory.steps:
            raise ValueError(f"Trajectory {trajectory.id} has no steps: there is nothing to learn from it.")
        if trajectory.id in self.places:
            return False
        slot = self._free_slot()
        self.slots[slot : slot + 1] = [referenced(trajectory)]
        self.places[trajectory.id] = slot
        self.groups.add(slot, trajectory.task.id, trajectory.reward)
        self.rewards[slot], self.steps[slot] = trajectory.reward, len(trajectory.steps)
        priority = self._first_priority(trajectory)
        self.priorities[slot] = priority
        self.tree.set_one(slot, max(priority, PRIORITY_FLOOR) ** self.config.priority_exponent)
        return True

    def sample(self, count: int) -> Sample:
        """Stratified sampling by priority: the cumulated priorities are cut into `count` equal pieces and one point is
        drawn in each. A trajectory is still expected `count`·P times, with fewer repetitions than independent draws."""
        if not self.slots:
            raise ValueError("The replay buffer is empty: insert a trajectory before sampling.")
        points = (np.arange(count) + self.rng.random(count)) / count * self.tree.total
        found = self.tree.find(points)
        probabilities = self.tree.get(found) / self.tree.total
        weights = (len(self) * probabilities) ** -self.importance_exponent
        self.draws += 1
        trajectories = tuple([self.slots[slot] for slot in found.tolist()])
        ids = tuple([trajectory.id for trajectory in trajectories])
        means, deviations = self.groups.describe(found)
        return Sample(ids, trajectories, weights / weights.max(), probabilities, means, deviations)

    def update(self, ids: Sequence[str], priorities: Sequence[float] | Floats) -> None:
        """New priorities after a learner step; ids that were evicted in the meantime are ignored."""
        values = np.asarray(priorities, dtype=np.float64)
        if len(ids) != len(values):
            raise ValueError(f"{len(ids)} ids have {len(values)} priorities.")
        slots = np.array([self.places.get(i, -1) for i in ids], dtype=np.int64)
        known = slots >= 0
        if not known.any():
            return
        self._prioritise(slots[known], values[known])
        self.top = max(self.top, float(values[known].max()))

    @property
    def importance_exponent(self) -> float:
        """β, annealed linearly from its start value to 1 over the first draws."""
        start = self.config.importance_exponent
        return start + (1.0 - start) * min(1.0, self.draws / self.config.importance_anneal_steps)

    def describe(self) -> dict[str, float]:
        """Metrics of the buffer; docs/metrics.md explains them."""
        count = len(self)
        if not count:
            return {}
        p50, p95 = np.quantile(self.priorities[:count], [0.5, 0.95])
        return {
            "replay/size": float(count),
            "replay/success": float(self.rewards[:count].mean()),
            "replay/terminal": float(count / self.steps[:count].sum()),
            "replay/group": count / len(self.groups),
            "priority/p50": float(p50),
            "priority/p95": float(p95),
            "priority/max_share": float(self.tree.get(np.arange(count)).max() / self.tree.total),
        }

    def state(self) -> Tree:
        """Ids and priorities, oldest first, and the generator, as plain data. Trajectories are in the run store."""
        order = [*range(self.oldest, len(self.slots)), *range(self.oldest)]
        return {
            "ids": [self.slots[slot].id for slot in order],
            "priorities": [float(self.priorities[slot]) for slot in order],
            "top": self.top,
            "draws": self.draws,
            "rng": self.rng.bit_generator.state,
        }

    def restore(self, state: Tree, trajectories: Iterable[Trajectory]) -> None:
        """Fill an empty buffer. Trajectories that the state does not name are newer, and inserted as new."""
        if self.slots:
            raise ValueError("Only an empty replay buffer can be restored.")
        found = {trajectory.id: trajectory for trajectory in trajectories}
        self.top = float(state["top"])
        self.draws = int(state["draws"])
        self.rng.bit_generator.state = state["rng"]
        for trajectory_id, priority in zip(state["ids"], state["priorities"], strict=True):
            if trajectory_id in found and self.insert(found.pop(trajectory_id)):
                self._prioritise(np.array([self.places[trajectory_id]]), np.array([priority], dtype=np.float64))
        for trajectory in found.values():
            self.insert(trajectory)

    def _first_priority(self, trajectory: Trajectory) -> float:
        """From `initial_priority`; without one, or if it is negative or not finite, the highest so far. A NaN in the
        sum tree would break all sampling."""
        priority = self.initial_priority(trajectory) if self.initial_priority else self.top
        return priority if math.isfinite(priority) and priority >= 0.0 else self.top

    def _free_slot(self) -> int:
        if len(self.slots) < self.config.capacity:
            return len(self.slots)
        slot = self.oldest
        leaving = self.slots[slot]
        del self.places[leaving.id]
        self.groups.remove(slot, leaving.task.id, leaving.reward)
        self.oldest = (slot + 1) % self.config.capacity
        return slot

    def _prioritise(self, slots: Indices, values: Floats) -> None:
        if not np.isfinite(values).all() or (values < 0.0).any():
            raise ValueError(f"Priorities must be finite and not negative; got {values.tolist()}.")
        self.priorities[slots] = values
        self.tree.set(slots, np.maximum(values, PRIORITY_FLOOR) ** self.config.priority_exponent)


def referenced(trajectory: Trajectory) -> Trajectory:
    """The trajectory with references in place of screens: images are in the blob store, once each."""
    steps = tuple(replace(step, screen=step.screen.reference()) for step in trajectory.steps)
    last = trajectory.last_screen
    return replace(trajectory, steps=steps, last_screen=last.reference() if last else None)
