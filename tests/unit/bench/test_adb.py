"""The adb bench itself, not its figures."""

from __future__ import annotations

import pytest
from served import programs

from distrl.bench import adb
from distrl.bench._phone_processes import served_phones
from distrl.bench.adb import BARE, OURS, ContenderRound


@pytest.mark.slow
@pytest.mark.skipif(not programs(), reason="no adb here")
def test_every_contender_steps_every_phone_in_every_repeat():
    figures = adb.run(phones=3, seconds=0.3, repeats=2, processes=2)
    for name in (OURS, *BARE):
        row = figures[name]
        assert len(row["steps_per_s"]) == 2
        assert row["steps"] >= 2 * 3
        assert 0 < row["tap_ms"]["p50"] <= row["tap_ms"]["p95"]
        assert 0 < row["look_ms"]["p50"] <= row["look_ms"]["p95"]
    assert set(figures["ratio"]) == set(BARE)


def test_phones_are_spread_over_processes_and_no_two_share_a_port():
    with served_phones(3, 2, "sim://phone", 0) as addresses:
        assert len(set(addresses)) == 3
        assert all(address.startswith("127.0.0.1:") for address in addresses)


def test_the_order_of_contenders_rotates():
    assert [adb._order(repeat)[0] for repeat in range(3)] == [OURS, *BARE]
    assert all(sorted(adb._order(repeat)) == sorted((OURS, *BARE)) for repeat in range(3))


def test_the_bar_is_asked_for_over_each_way_of_adbutils_alone():
    def turns(steps: int) -> list[ContenderRound]:
        return [ContenderRound(1.0, 0.5, [0.001] * steps, [0.002] * steps) for _ in range(2)]

    figures = adb.figures({OURS: turns(95), "screenshot": turns(100), "framebuffer": turns(200)}, seed=0)
    assert figures["bar"] == {"at_least": 0.9, "met_over": {"screenshot": True, "framebuffer": False}}
    assert figures["ratio"]["framebuffer"] == {"is": 0.475, "low": 0.475, "high": 0.475}


def test_all_contenders_tap_the_same_places():
    first, second = adb._places(3, 1), adb._places(3, 1)
    places = [next(first) for _ in range(20)]
    assert places == [next(second) for _ in range(20)]
    assert places != [next(adb._places(3, 2)) for _ in range(20)]
