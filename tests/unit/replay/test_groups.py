from __future__ import annotations

import numpy as np

from distrl.replay.groups import Groups


def test_incremental_counts_equal_a_recount():
    rng = np.random.default_rng(0)
    capacity, groups = 32, Groups(32)
    held: dict[int, tuple[str, float]] = {}
    for turn in range(500):
        slot = turn % capacity
        if slot in held:
            groups.remove(slot, *held[slot])
        held[slot] = (f"task-{rng.integers(12)}", float(rng.integers(2)))
        groups.add(slot, *held[slot])
        rewards = {task: np.array([r for t, r in held.values() if t == task]) for task, _ in held.values()}
        assert len(groups) == len(rewards)
        mean, std = groups.describe(np.array(list(held)))
        np.testing.assert_allclose(mean, [rewards[task].mean() for task, _ in held.values()])
        np.testing.assert_allclose(std, [rewards[task].std() for task, _ in held.values()], atol=1e-12)


def test_there_is_room_for_as_many_groups_as_slots_however_often_they_change():
    groups = Groups(3)
    for turn in range(30):
        if turn >= 3:
            groups.remove(turn % 3, f"{turn - 3}", 1.0)
        groups.add(turn % 3, f"{turn}", 1.0)
    assert len(groups) == 3
