import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distrl.evaluation.capacity import Latencies, Site, first_to_saturate, forecast, saturations
from distrl.evaluation.latencies import check

PAPER = Latencies(reset_s=50.0, action_s=20.0, think_s=0.5, steps=9.0, between_s=0.5)
"""An episode of 235 s."""


def test_a_device_plays_one_cycle_after_the_other():
    assert pytest.approx(235.0) == PAPER.cycle_s
    assert forecast(PAPER, Site(), 1).per_min == pytest.approx(60.0 / 235.0)


def test_devices_add_up_until_something_behind_them_is_used_up():
    site = Site(host_s=0.1)
    assert forecast(PAPER, site, 1_000).per_min == pytest.approx(1_000 * 60.0 / 235.0)
    assert forecast(PAPER, site, 1_000).limit == "devices"
    assert forecast(PAPER, site, 1_000_000).per_min == pytest.approx(600.0)
    assert forecast(PAPER, site, 1_000_000).limit == "host"


def test_a_policy_gpu_feeds_as_many_devices_as_it_has_decisions_for():
    site = Site(decisions_per_s=90.0, policy_gpus=2, host_s=0.0)
    found = forecast(PAPER, site, 100_000)
    assert found.limit == "policy"
    assert found.per_min == pytest.approx(60.0 * 2 * 90.0 / 9.0)
    assert found.devices_per_policy_gpu == pytest.approx(90.0 / 9.0 * 235.0)
    assert found.busy_fraction < 0.1


def test_a_slow_learner_falls_behind_without_slowing_anybody_unless_collecting_is_paced():
    slow = Site(learner_s=120.0, trajectories_per_step=8.0, host_s=0.0)
    free = forecast(PAPER, slow, 64)
    assert (free.limit, free.per_min) == ("devices", pytest.approx(64 * 60.0 / 235.0))
    assert free.learner_duty == pytest.approx(64 / 235.0 / (8.0 / 120.0))
    held = forecast(PAPER, Site(learner_s=120.0, trajectories_per_step=8.0, host_s=0.0, paced=True), 64)
    assert (held.limit, held.per_min) == ("learner", pytest.approx(60.0 * 8.0 / 120.0))
    assert held.learner_duty == pytest.approx(1.0)


def test_weights_for_many_workers_take_their_share_of_the_network():
    light = Site(network_mbit=100.0, trajectory_mb=0.5, host_s=0.0)
    heavy = Site(network_mbit=100.0, trajectory_mb=0.5, weights_mb=100.0, devices_per_worker=8, host_s=0.0)
    assert forecast(PAPER, light, 100).limit == "devices"
    assert forecast(PAPER, heavy, 100).limit == "network"


def test_what_saturates_first_is_named_with_the_fleet_at_which_it_does():
    site = Site(learner_s=1.0, trajectories_per_step=100.0, decisions_per_s=1e6, host_s=0.1)
    assert first_to_saturate(PAPER, site) == ("host", 2351)
    assert first_to_saturate(PAPER, Site(learner_s=120.0)) == ("learner", 16)
    assert forecast(PAPER, site, 2350).limit == "devices"
    assert saturations(PAPER, site)["host"] == pytest.approx(2350.0)


times = st.floats(0.01, 100.0)


@given(
    latencies=st.builds(Latencies, times, times, times, st.floats(1.0, 50.0), times),
    site=st.builds(
        Site,
        learner_s=times,
        trajectories_per_step=st.floats(1.0, 100.0),
        decisions_per_s=st.floats(0.1, 1e6),
        host_s=st.floats(1e-4, 1.0),
        network_mbit=st.floats(1.0, 1e5),
        paced=st.booleans(),
    ),
)
def test_more_devices_never_make_less_and_nothing_is_asked_for_more_than_it_has(latencies, site):
    before = 0.0
    for devices in (1, 10, 100, 10_000, 1_000_000):
        found = forecast(latencies, site, devices)
        assert found.per_min >= before * (1 - 1e-9)
        before = found.per_min
        assert found.per_min <= 60.0 * devices / latencies.cycle_s * (1 + 1e-9)
        used = [found.duty[name] for name in ("policy", "host", "network") + (("learner",) if site.paced else ())]
        assert max(used) <= 1.0 + 1e-9
        if found.limit != "devices":
            assert found.duty[found.limit] == pytest.approx(1.0)
    assert math.isfinite(before)


def bench_row(devices, per_min, cycle_s=10.0):
    parts = {"steps": 9.0, "reset_s": 1.0, "action_s": (cycle_s - 1.0) / 9.0, "think_s": 0.0, "between_s": 0.0}
    return {"profile": "paper", "devices": devices, "async_per_min": per_min, "latencies": {**parts, "learner_s": 1.0}}


def test_a_bench_is_predicted_from_its_smallest_fleet():
    rows = [bench_row(32, 180.0, cycle_s=99.0), bench_row(8, 48.0)]
    assert [(each.devices, each.predicted_per_min) for each in check(rows)] == [(32, 192.0), (8, 48.0)]
    assert [each.error for each in check(rows)] == pytest.approx([192 / 180 - 1, 0.0])
