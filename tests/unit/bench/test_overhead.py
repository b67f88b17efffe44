"""The overhead bench itself, not its figures."""

from __future__ import annotations

import asyncio

import pytest

from distrl.bench import overhead
from distrl.bench.overhead import Amount, Stopwatch, Timing
from distrl.types import Tap


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(overhead, "SLOW", "null://phone?action_s=0.01")


@pytest.mark.usefixtures("quick")
def test_every_device_is_measured_with_one_median_per_repeat():
    figures = overhead.run(steps=3, episodes=5, repeats=2, slow_steps=2, slow_repeats=2)
    for name, steps in (("null", 3 * 5 * 2), ("sim", 3 * 2), ("slow", 2 * 2)):
        assert figures[name]["steps"] == steps
        assert len(figures[name]["overhead_ms"]) == 2
        assert figures[name]["overhead_p95_ms"] >= min(figures[name]["overhead_ms"])
    assert figures["slow"]["bare_ms"] >= 10.0  # it waited
    assert min(figures["null"]["overhead_ms"]) > 0.0


def test_the_overheads_of_the_steps_add_up_to_the_whole_difference():
    bare, framed = Timing((1.0, 1.0), 0.5), Timing((1.25, 1.5), 1.5)
    assert overhead.overhead(bare, framed) == pytest.approx([0.25 + 0.5, 0.5 + 0.5])


@pytest.mark.parametrize(
    ("null_ms", "slow_share", "met"), [(1.9, 0.009, True), (2.1, 0.009, False), (1.9, 0.011, False)]
)
def test_the_bars_are_both_asked_for(null_ms, slow_share, met):
    assert overhead.bars({"overhead_ms": [null_ms]}, {"overhead_share": [slow_share]})["met"] is met


def test_both_ways_do_the_same_operations(monkeypatch):
    """Each pair: once to know the actions, once bare, once framed."""
    done = []

    async def noted(self, action):
        done.append(action)

    monkeypatch.setattr(Stopwatch, "perform", noted)
    asyncio.run(overhead._pairs("null://phone", Amount(steps=4, episodes=1, repeats=1), seed=0))
    assert done == [Tap(500, 500)] * (1 + 2 * 4)
