import numpy as np

from distrl.evaluation.curves import evaluation_points, moving_average, throughput, training
from distrl.store.run import RunStore


def test_a_moving_average_looks_back_and_waits_for_half_its_window():
    smooth = moving_average(np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 4)
    assert np.isnan(smooth[:2]).all()
    assert smooth[2:].tolist() == [3.0, 4.0, 6.0]
    assert moving_average(np.array([2.0]), 50).tolist() == [2.0]
    assert moving_average(np.empty(0), 5).shape == (0,)


def test_throughput_counts_every_trajectory_once():
    minutes = np.random.default_rng(0).uniform(0, 8, 400)
    middle, rate = throughput(minutes)
    assert np.isclose((rate * np.diff(middle).mean()).sum(), 400)
    assert throughput(np.array([1.0]))[0].shape == (0,)


def test_training_is_read_in_the_order_of_insertion(run_folder):
    with RunStore.read(run_folder) as store:
        seen = training(store, invalid_penalty=0.2)
        assert len(seen) == store.counts().trajectories == 40
        assert seen.success.sum() == store.counts().successes
        assert (seen.lag >= 0).all()
        lost = seen.success == 0
        assert np.allclose(seen.episode_return[lost], -0.2)  # each failure of this run holds one invalid action
        assert seen.minutes.min() > 0


def test_evaluations_stand_at_both_ends_of_the_curve(run_folder):
    with RunStore.read(run_folder) as store:
        seen = training(store, 0.0)
        before, after = evaluation_points(store, seen)
    assert (before.name, before.minutes, before.count) == ("before", 0.0, 0)
    assert (after.name, after.minutes, after.count) == ("after", seen.minutes.max(), 40)


def test_a_run_without_trajectories_has_empty_curves(tmp_path):
    with RunStore.create(tmp_path / "new", {}, {}) as store:
        seen = training(store, 0.0)
        assert len(seen) == 0
        assert evaluation_points(store, seen) == []
