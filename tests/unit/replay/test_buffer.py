import json
from dataclasses import replace

import numpy as np
import pytest

from distrl.config import ReplayConfig
from distrl.replay.buffer import ReplayBuffer


def new_buffer(seed=0, **settings):
    return ReplayBuffer(ReplayConfig(**settings), np.random.default_rng(seed))


def filled(trajectory, count, seed=0, **settings):
    buffer = new_buffer(seed, **settings)
    for i in range(count):
        buffer.insert(trajectory(i))
    return buffer


def frequencies(buffer, draws, count=10):
    seen = {}
    for _ in range(draws):
        for name in buffer.sample(count).ids:
            seen[name] = seen.get(name, 0) + 1
    return np.array([seen.get(str(i), 0) for i in range(len(buffer))]) / (draws * count)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_trajectories_are_drawn_in_proportion_to_priority_to_the_power_alpha(trajectory, exponent):
    buffer = filled(trajectory, 20, priority_exponent=exponent)
    priorities = np.linspace(0.05, 2.0, 20)
    buffer.update([str(i) for i in range(20)], priorities)
    expected = priorities**exponent / (priorities**exponent).sum()
    draws = 2_000
    spread = np.sqrt(expected * (1 - expected) / (draws * 10))
    assert (np.abs(frequencies(buffer, draws) - expected) < 5 * spread).all()


def test_exponent_zero_draws_uniformly_whatever_the_priorities(trajectory):
    buffer = filled(trajectory, 20, priority_exponent=0.0)
    buffer.update([str(i) for i in range(20)], np.linspace(0.0, 50.0, 20))
    np.testing.assert_allclose(frequencies(buffer, 2_000), 0.05, atol=0.008)


def test_prioritised_replay_is_really_sampled_from(trajectory):
    buffer = filled(trajectory, 100)
    buffer.update([str(i) for i in range(100)], np.where(np.arange(100) == 7, 25.0, 0.01))
    drawn = buffer.sample(200).ids
    assert drawn.count("7") > 50  # uniform sampling would give 2


def test_importance_weights_undo_the_priorities_and_the_largest_is_one(trajectory):
    buffer = filled(trajectory, 10, importance_exponent=1.0)
    buffer.update([str(i) for i in range(10)], np.linspace(0.1, 1.0, 10))
    sample = buffer.sample(64)
    raw = 1.0 / (10 * sample.probabilities)
    np.testing.assert_allclose(sample.weights, raw / raw.max())
    assert sample.weights.max() == 1.0


def test_with_beta_one_a_weighted_mean_over_samples_is_the_plain_mean_over_the_buffer(trajectory):
    buffer = filled(trajectory, 10, importance_exponent=1.0)
    buffer.update([str(i) for i in range(10)], np.linspace(0.1, 3.0, 10))
    estimates = []
    for _ in range(500):
        sample = buffer.sample(20)
        values = np.array([float(name) ** 2 for name in sample.ids])
        estimates.append((values / (10 * sample.probabilities)).mean())
    assert np.mean(estimates) == pytest.approx(np.mean(np.arange(10.0) ** 2), rel=0.02)


def test_beta_is_annealed_to_one_over_the_steps_set(trajectory):
    buffer = filled(trajectory, 4, importance_exponent=0.4, importance_anneal_steps=10)
    seen = []
    for _ in range(15):
        seen.append(buffer.importance_exponent)
        buffer.sample(2)
    np.testing.assert_allclose(seen[:3], [0.4, 0.46, 0.52])
    assert seen[10:] == [1.0] * 5


def test_new_trajectories_enter_with_the_highest_priority_seen(trajectory):
    buffer = filled(trajectory, 3)
    buffer.update(["0", "1", "2"], [9.0, 0.1, 0.1])
    buffer.update(["0"], [0.2])
    buffer.insert(trajectory(3))
    assert buffer.state()["priorities"] == [0.2, 0.1, 0.1, 9.0]


def test_an_initial_priority_replaces_the_highest_so_far(trajectory):
    config = ReplayConfig(priority_exponent=1.0)
    buffer = ReplayBuffer(config, np.random.default_rng(0), initial_priority=lambda t: 3.0 if t.id == "1" else 1.0)
    for i in range(4):
        buffer.insert(trajectory(i))
    np.testing.assert_allclose(frequencies(buffer, 2_000), [1 / 6, 1 / 2, 1 / 6, 1 / 6], atol=0.015)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0])
def test_an_initial_priority_that_is_not_finite_or_negative_is_replaced(trajectory, bad):
    buffer = ReplayBuffer(
        ReplayConfig(), np.random.default_rng(0), initial_priority=lambda t: bad if t.id == "1" else 0.5
    )
    for i in range(3):
        buffer.insert(trajectory(i))
    assert buffer.state()["priorities"] == [0.5, 1.0, 0.5]
    assert len(buffer.sample(8).ids) == 8


def test_the_oldest_leaves_first_and_is_never_drawn_again(trajectory):
    buffer = filled(trajectory, 7, capacity=4)
    assert buffer.state()["ids"] == ["3", "4", "5", "6"]
    assert len(buffer) == 4
    assert set(buffer.sample(200).ids) == {"3", "4", "5", "6"}
    assert "2" not in buffer


def test_whole_trajectories_come_back_so_the_terminal_step_is_always_there(trajectory):
    buffer = new_buffer()
    for i in range(6):
        buffer.insert(trajectory(i, steps=i + 1))
    for drawn in buffer.sample(50).trajectories:
        assert len(drawn.steps) == int(drawn.id) + 1


def test_screens_are_kept_as_references(trajectory):
    buffer = filled(trajectory, 1)
    kept = buffer.sample(1).trajectories[0]
    original = trajectory(0)
    assert all(step.screen.image == b"" for step in kept.steps)
    assert kept.last_screen.image == b""
    assert [s.screen.digest for s in kept.steps] == [s.screen.digest for s in original.steps]
    assert [s.decision for s in kept.steps] == [s.decision for s in original.steps]


def test_an_invalid_outcome_is_refused(trajectory):
    buffer = new_buffer()
    with pytest.raises(ValueError, match="invalid"):
        buffer.insert(trajectory(0, outcome="invalid"))
    with pytest.raises(ValueError, match="no steps"):
        buffer.insert(trajectory(0, steps=0))
    assert len(buffer) == 0


def test_the_same_id_is_taken_once(trajectory):
    buffer = new_buffer()
    assert buffer.insert(trajectory(0)) is True
    assert buffer.insert(trajectory(0, outcome="failure")) is False
    assert len(buffer) == 1
    assert buffer.sample(1).trajectories[0].outcome.success


def test_priorities_of_evicted_trajectories_are_ignored(trajectory):
    buffer = filled(trajectory, 5, capacity=2)
    buffer.update(["0", "4"], [100.0, 0.5])
    assert buffer.state()["priorities"] == [1.0, 0.5]
    assert buffer.top == 1.0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -1.0])
def test_a_priority_that_is_no_priority_is_refused(trajectory, bad):
    buffer = filled(trajectory, 2)
    with pytest.raises(ValueError, match="finite"):
        buffer.update(["0"], [bad])


def test_sampling_an_empty_buffer_says_so():
    with pytest.raises(ValueError, match="empty"):
        new_buffer().sample(1)


def test_one_seed_gives_one_sequence_of_samples(trajectory):
    first, second = filled(trajectory, 30, seed=3), filled(trajectory, 30, seed=3)
    assert [first.sample(8).ids for _ in range(5)] == [second.sample(8).ids for _ in range(5)]
    assert filled(trajectory, 30, seed=4).sample(8).ids != filled(trajectory, 30, seed=3).sample(8).ids


def test_a_restored_buffer_goes_on_exactly_where_the_old_one_was(trajectory):
    buffer = filled(trajectory, 12, seed=5)
    buffer.update([str(i) for i in range(12)], np.linspace(0.1, 2.0, 12))
    buffer.sample(4)
    state = json.loads(json.dumps(buffer.state()))
    restored = new_buffer(seed=99)
    restored.restore(state, [trajectory(i) for i in reversed(range(12))])
    assert restored.state() == buffer.state()
    for _ in range(3):
        old, new = buffer.sample(6), restored.sample(6)
        assert old.ids == new.ids
        np.testing.assert_array_equal(old.weights, new.weights)


def test_what_was_inserted_after_the_checkpoint_is_new_to_the_restored_buffer(trajectory):
    buffer = filled(trajectory, 3)
    buffer.update(["0", "1", "2"], [5.0, 0.1, 0.2])
    restored = new_buffer()
    restored.restore(buffer.state(), [trajectory(i) for i in (1, 2, 3)])  # 0 is gone from the store, 3 is new
    assert restored.state()["ids"] == ["1", "2", "3"]
    assert restored.state()["priorities"] == [0.1, 0.2, 5.0]


def test_a_group_is_all_trajectories_of_one_task_in_the_buffer(trajectory):
    def of_task(name, task, outcome):
        made = trajectory(name, outcome)
        return replace(made, task=replace(made.task, id=task))

    buffer = new_buffer(capacity=4)
    buffer.insert(of_task("a", "one", "success"))
    alone = buffer.sample(2)
    assert alone.group_mean.tolist() == [1.0, 1.0]
    assert alone.group_std.tolist() == [0.0, 0.0]
    for name, task, outcome in (("b", "one", "failure"), ("c", "two", "failure"), ("d", "one", "failure")):
        buffer.insert(of_task(name, task, outcome))
    figures = {
        name: (mean, std)
        for sample in (buffer.sample(4) for _ in range(5))
        for name, mean, std in zip(sample.ids, sample.group_mean, sample.group_std, strict=True)
    }
    assert figures["a"] == figures["b"] == figures["d"] == pytest.approx((1 / 3, np.sqrt(2) / 3))
    assert figures["c"] == (0.0, 0.0)
    buffer.insert(of_task("e", "two", "success"))  # the oldest leaves, and its group knows it no more
    sample = buffer.sample(8)
    assert {m for name, m in zip(sample.ids, sample.group_mean, strict=True) if name in "bd"} == {0.0}
    assert {m for name, m in zip(sample.ids, sample.group_mean, strict=True) if name in "ce"} == {0.5}


def test_an_empty_group_is_dropped(trajectory):
    buffer = filled(trajectory, 10, capacity=3)
    assert len(buffer.groups) == 3


def test_part_of_a_sample_keeps_its_columns_together(trajectory):
    sample = filled(trajectory, 10).sample(4)
    part = sample.only(np.array([False, True, False, True]))
    assert part.ids == (sample.ids[1], sample.ids[3])
    assert part.trajectories == (sample.trajectories[1], sample.trajectories[3])
    np.testing.assert_array_equal(part.weights, sample.weights[[1, 3]])
    np.testing.assert_array_equal(part.group_mean, sample.group_mean[[1, 3]])


def test_metrics_of_the_buffer_by_hand(trajectory):
    buffer = new_buffer(capacity=8, priority_exponent=1.0)
    assert buffer.describe() == {}
    for name, outcome, steps in (("a", "success", 1), ("b", "failure", 4), ("c", "failure", 2), ("d", "failure", 3)):
        buffer.insert(trajectory(name, outcome, steps))
    buffer.update(["a", "b", "c", "d"], [5.0, 1.0, 2.0, 2.0])
    assert buffer.describe() == pytest.approx(
        {
            "replay/size": 4,
            "replay/success": 0.25,
            "replay/terminal": 0.4,
            "replay/group": 1.0,
            "priority/p50": 2.0,
            "priority/p95": 4.55,
            "priority/max_share": 0.5,
        }
    )
