import numpy as np
import pytest

from distrl.replay.priorities import SumTree


@pytest.mark.parametrize("capacity", [1, 2, 3, 8, 100])
def test_every_leaf_covers_as_much_of_the_line_as_its_weight(capacity):
    weights = np.random.default_rng(capacity).random(capacity) + 0.01
    tree = SumTree(capacity)
    tree.set(np.arange(capacity), weights)
    edges = np.cumsum(weights)
    assert tree.total == pytest.approx(edges[-1])
    points = np.random.default_rng(1).random(2_000) * tree.total
    np.testing.assert_array_equal(tree.find(points), np.searchsorted(edges, points, side="right"))


def test_changed_weights_change_the_sums_even_when_a_leaf_is_named_twice():
    tree = SumTree(5)
    tree.set(np.arange(5), np.ones(5))
    tree.set(np.array([3, 3, 0]), np.array([2.0, 2.0, 0.5]))
    np.testing.assert_array_equal(tree.get(np.arange(5)), [0.5, 1.0, 1.0, 2.0, 1.0])
    assert tree.total == 5.5


def test_a_point_at_the_very_end_of_the_line_finds_a_leaf_that_is_there():
    tree = SumTree(8)
    tree.set(np.arange(5), np.full(5, 0.1))
    assert tree.find(np.array([tree.total, np.nextafter(tree.total, 0)])).tolist() == [4, 4]


def test_sums_do_not_drift_over_many_changes():
    rng = np.random.default_rng(0)
    tree = SumTree(64)
    for _ in range(2_000):
        tree.set(rng.integers(0, 64, 8), rng.random(8) * 10.0 ** rng.integers(-6, 6))
    assert tree.total == pytest.approx(tree.get(np.arange(64)).sum(), rel=1e-12)


def test_one_leaf_set_alone_makes_the_tree_that_setting_them_all_makes():
    weights = np.random.default_rng(0).random(13)
    together, alone = SumTree(13), SumTree(13)
    together.set(np.arange(13), weights)
    for leaf, weight in enumerate(weights):
        alone.set_one(leaf, float(weight))
    np.testing.assert_array_equal(alone.nodes, together.nodes)
