"""The device bench itself, not its figures."""

from __future__ import annotations

from distrl.bench.device import run


def test_the_bench_reports_every_repeat_and_its_monkey_gets_around():
    figures = run(seconds=0.3, repeats=2)
    assert all(len(values) == 2 for values in figures.values())
    assert min(figures["steps_per_s"]) > 0
    assert min(figures["screens_changed_share"]) > 0.4
