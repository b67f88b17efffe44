"""Rates and ceilings of timelines written by hand, and of runs on the virtual clock."""

import pytest

from distrl.bench.asynchrony.figures import RunPair, asynchronous_rate, latencies, rounds, row, synchronous_rate
from distrl.bench.asynchrony.timeline import BusyTimes, Timeline, TimelineEpisode
from distrl.errors import ConfigError


def timeline(episodes, *, devices=1, begin=0.0, end=100.0, learner_s=0.0):
    uses = BusyTimes()
    for episode in episodes:
        uses.add(episode.slot, "reset", episode.started_at, episode.started_at + 0.2 * episode.own_s)
        uses.add(episode.slot, "act", episode.started_at + 0.2 * episode.own_s, episode.started_at + episode.own_s)
    return Timeline(devices, learner_s, begin, end, tuple(episodes), uses, steps=4)


def back_to_back(lengths, *, gap=0.0, slot=0, version=0):
    """Episodes of these own times, `gap` apart."""
    found, at = [], 0.0
    for place, length in enumerate(lengths):
        last = place == len(lengths) - 1
        found.append(
            TimelineEpisode(
                slot, at, None if last else at + length, None if last else at + length + gap, length, version
            )
        )
        at += length + gap
    return found


def test_a_device_that_never_rests_is_perfect():
    rate = asynchronous_rate(timeline(back_to_back([10.0] * 11)))
    assert rate.per_min == pytest.approx(6.0)
    assert rate.efficiency == pytest.approx(1.0)


def test_an_episode_counts_by_its_part_in_the_window():
    """Wherever the window begins and ends, a device with a steady pace has that pace."""
    for begin, end in [(3.0, 41.0), (0.0, 99.0), (15.5, 16.5 + 30.0)]:
        rate = asynchronous_rate(timeline(back_to_back([10.0] * 11), begin=begin, end=end))
        assert rate.per_min == pytest.approx(6.0)


def test_gaps_between_episodes_lower_the_rate_and_not_the_perfect_one():
    rate = asynchronous_rate(timeline(back_to_back([8.0] * 11, gap=2.0)))
    assert rate.per_min == pytest.approx(6.0)
    assert rate.perfect_per_min == pytest.approx(7.5)


def test_an_episode_still_playing_counts_by_how_long_it_would_have_taken():
    unfinished = back_to_back([10.0, 10.0, 80.0])
    rate = asynchronous_rate(timeline(unfinished, end=60.0))
    assert rate.per_min == pytest.approx(2.5)


def test_fast_and_slow_devices_add_up_their_rates():
    episodes = back_to_back([5.0] * 21) + back_to_back([20.0] * 6, slot=1)
    assert asynchronous_rate(timeline(episodes, devices=2)).per_min == pytest.approx(12.0 + 3.0)


def played_in_rounds(lengths, *, wait=0.0, learner_s=1.0):
    """Rounds of two devices: each begins `wait` after the learner's step over the last one."""
    found, at = [], 0.0
    for version, pair in enumerate(lengths):
        after = at + max(pair) + learner_s + wait
        found += [TimelineEpisode(slot, at, at + own, after, own, version) for slot, own in enumerate(pair)]
        at = after
    return timeline(found, devices=2, end=at, learner_s=learner_s)


def test_a_perfect_round_is_its_longest_episode_and_a_learner_step():
    run = played_in_rounds([(4.0, 9.0), (6.0, 2.0)])
    assert [each.longest_s for each in rounds(run)] == [9.0, 6.0]
    assert synchronous_rate(run).per_min == pytest.approx(60.0 * 4 / (10.0 + 7.0))
    assert synchronous_rate(run).efficiency == pytest.approx(1.0)


def test_what_a_round_waits_beyond_that_is_its_loss():
    assert synchronous_rate(played_in_rounds([(4.0, 9.0), (6.0, 2.0)], wait=1.7)).efficiency == pytest.approx(
        0.8333, abs=1e-4
    )


def test_a_round_that_was_under_way_when_counting_began_does_not_count():
    run = played_in_rounds([(4.0, 9.0), (6.0, 2.0)])
    later = Timeline(2, 1.0, 5.0, run.end, run.episodes, run.uses, 4)
    assert len(rounds(later)) == 1


def test_the_row_has_ratio_ceiling_and_what_was_achieved_of_it():
    free = timeline(
        back_to_back([4.0, 6.0] * 10, gap=0.5) + back_to_back([9.0, 2.0] * 9, gap=0.5, slot=1), devices=2, end=90.0
    )
    held = played_in_rounds([(4.0, 9.0), (6.0, 2.0)])
    found = row("paper", 2, [RunPair(free, held)] * 3)
    assert found["ratio"] == pytest.approx(found["async_per_min"] / found["sync_per_min"])
    assert found["ratio_ci95"] == pytest.approx([found["ratio"]] * 2)
    assert found["achieved"] == pytest.approx(found["ratio"] / found["ceiling"])
    assert found["achieved"] == pytest.approx(found["async_efficiency"])  # the synchronous one loses nothing here
    assert found["busy_fraction"] < 0.95
    assert {"profile", "devices", "lag_p50", "lag_p95"} <= found.keys()


def test_latencies_add_up_to_the_time_a_device_spends_on_an_episode():
    run = timeline(back_to_back([8.0] * 11, gap=2.0))
    parts = latencies([run])
    cycle_s = parts["reset_s"] + parts["steps"] * (parts["action_s"] + parts["think_s"]) + parts["between_s"]
    assert cycle_s == pytest.approx(10.0)
    assert parts["between_s"] == pytest.approx(2.0)
    assert parts["reset_s"] == pytest.approx(1.6)


def test_too_short_a_run_is_an_error_that_says_what_to_do():
    with pytest.raises(ConfigError, match="minutes"):
        asynchronous_rate(timeline(back_to_back([1000.0])))
    with pytest.raises(ConfigError, match="minutes"):
        synchronous_rate(timeline([]))
