"""The figures of the weights bench, from timestamps; the run itself is in the integration tests."""

from __future__ import annotations

import pytest

from distrl.bench import weights
from distrl.bench._synthetic_run import SyntheticLoad, SyntheticPolicy, Timestamps, read_timestamps
from distrl.bench.weights import Applied, DeviceWait, History
from distrl.types import VersionedWeights


def applied(worker, version, at):
    return Applied(worker, version, at, 0.1, 0.001)


def test_a_version_has_arrived_when_the_last_worker_acts_on_it_or_on_a_newer_one():
    history = History(
        published=(10.0, 20.0, 30.0),
        applied=(applied("a", 1, 10.5), applied("b", 2, 20.75), applied("a", 2, 21.0), applied("a", 3, 30.5)),
        waits=(),
    )
    assert history.windows(workers=2) == [(10.0, 20.75), (20.0, 21.0)]  # b skipped 1; 3 never came to b


def test_lost_time_is_waiting_beyond_the_usual_waits():
    quiet = [DeviceWait("x", "perform", t, t + 0.001) for t in (1.0, 2.0, 3.0)] + [DeviceWait("y", "reset", 1.0, 1.020)]
    loud = [
        DeviceWait("x", "perform", 10.1, 10.111),
        DeviceWait("y", "reset", 10.2, 10.220),
        DeviceWait("y", "perform", 10.3, 10.301),
    ]
    assert weights.lost_ms([*quiet, *loud], [(10.0, 11.0), (20.0, 21.0)]) == pytest.approx([5.0, 0.0])


def test_figures_separate_waits_while_publishing_from_others():
    history = History(
        published=(10.0,),
        applied=(applied("a", 1, 10.5),),
        waits=(
            DeviceWait("x", "perform", 1.0, 1.001),
            DeviceWait("x", "perform", 10.2, 10.203),
            DeviceWait("x", "reset", 12.0, 12.010),
        ),
    )
    figures = weights.figures(history, workers=1, copy_ms=[10.0])
    assert figures["latency_p50_ms"] == pytest.approx(500.0)
    assert figures["latency_over_copy"] == pytest.approx(50.0)
    assert figures["wait_ms"]["publishing"]["step"]["longest"] == pytest.approx(3.0)
    assert figures["wait_ms"]["quiet"]["step"]["longest"] == pytest.approx(1.0)
    assert figures["wait_ms"]["quiet"]["episode"]["count"] == 1
    assert figures["device_lost_ms"] == pytest.approx([2.0])


@pytest.mark.parametrize(
    ("mean", "interval", "nothing"),
    [(5.0, [-1.0, 9.0], True), (0.5, [0.3, 0.7], True), (5.0, [3.0, 7.0], False)],
)
def test_lost_time_counts_as_none_if_its_interval_includes_zero_or_it_is_below_the_noise(mean, interval, nothing):
    assert weights.is_nothing({"device_lost_mean_ms": mean, "device_lost_ci95_ms": interval}) is nothing


def test_the_interval_of_a_mean_narrows_around_it():
    values = [1.0, 2.0, 3.0] * 30
    low, high = weights.interval(values)
    assert 1.7 < low < 2.0 < high < 2.3


def test_timestamps_are_read_as_they_were_written(tmp_path):
    timestamps = Timestamps(tmp_path / "timestamps")
    timestamps.put("publish", 10.0)
    timestamps.put("busy", "w/0", "reset", 1.0, 2.0)
    timestamps.put("busy", "w/0", "perform", 2.5, 3.0)
    timestamps.put("applied", 1, 10.25, 10.5, 0.001)
    history = History.read(read_timestamps(tmp_path / "timestamps"))
    assert history.published == (10.0,)
    assert [(one.version, one.at, one.making_ready_s, one.swap_s) for one in history.applied] == [
        (1, 10.5, 0.25, 0.001)
    ]
    assert history.waits == (DeviceWait("w/0", "perform", 2.0, 2.5),)


def test_the_synthetic_policy_has_the_size_given_and_stages_weights(tmp_path):
    policy, other = (SyntheticPolicy(SyntheticLoad(40.0, 0.0), Timestamps(tmp_path / "timestamps")) for _ in range(2))
    arrays = policy.weights()
    assert sum(array.nbytes for array in arrays.values()) == pytest.approx(40 * 2**20, rel=1e-3)
    assert len(arrays) > 2
    put_in_place = other.stage(VersionedWeights.seal(4, arrays))
    assert other.version == 0
    put_in_place()
    assert other.version == 4
    assert all((other.weights()[name] == array).all() for name, array in arrays.items())


def test_a_copy_takes_some_time():
    assert min(weights.copying_ms(2**20, repeats=2)) > 0.0
