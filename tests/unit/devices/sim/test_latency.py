"""Latency models: their times, not their waiting."""

from __future__ import annotations

import statistics

import pytest

from distrl.devices.sim.latency import MODELS, latency_model
from distrl.errors import UnknownName


def episode_s(model, task_seed, actions=8):
    model.begin(task_seed)
    return model.reset_s() + sum(model.action_s() for _ in range(actions))


@pytest.mark.parametrize("name", MODELS)
def test_times_depend_on_device_and_task_only(name):
    first, second = (latency_model(name, "0/phone-3", 1.0) for _ in range(2))
    times = [episode_s(first, seed) for seed in (5, 9, 5)]
    assert times[0] == times[2] == episode_s(second, 5)


@pytest.mark.parametrize("name", MODELS)
def test_scale_multiplies_every_time(name):
    whole, tenth = latency_model(name, "d", 1.0), latency_model(name, "d", 0.1)
    assert episode_s(tenth, 3) == pytest.approx(0.1 * episode_s(whole, 3))


def test_an_emulator_takes_half_a_second_with_a_long_tail():
    model = latency_model("emulator", "d", 1.0)
    model.begin(1)
    times = [model.action_s() for _ in range(3000)]
    assert 0.45 < statistics.median(times) < 0.55
    assert max(times) > 5 * statistics.median(times)
    resets = []
    for seed in range(300):
        model.begin(seed)
        resets.append(model.reset_s())
    assert 2.0 <= min(resets) <= statistics.median(resets) <= 4.0 < max(resets)


def test_half_of_the_devices_are_four_times_slower():
    models = [latency_model("two-speed", f"0/phone-{n}", 1.0) for n in range(60)]
    slow = [episode_s(m, 1, 200) for m in models if m.slow]
    fast = [episode_s(m, 1, 200) for m in models if not m.slow]
    assert 18 <= len(slow) <= 42
    assert 3 < statistics.mean(slow) / statistics.mean(fast) < 5


def test_episodes_of_the_paper_last_250_s_on_average_and_spread_a_hundredfold():
    model = latency_model("paper", "d", 1.0)
    times = [episode_s(model, seed) for seed in range(4000)]
    assert 225 < statistics.mean(times) < 275
    assert 50 < max(times) / min(times) < 150


def test_an_unknown_model_is_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match="emulator"):
        latency_model("emulater", "d", 1.0)
