import random
import statistics

import pytest

from distrl.bench.asynchrony.profiles import ACTION_SHARE, ACTIONS, MEAN_S, PROFILES, RESET_SHARE, EpisodeDurations
from distrl.errors import UnknownName


def times(profile, count=20_000, scale=1.0):
    pace = EpisodeDurations(profile, scale)
    return [pace.episode_s(slot, (slot // 2 + 0.5) / (count // 2)) for slot in range(count)]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_has_the_paper_s_mean(profile):
    assert statistics.mean(times(profile)) == pytest.approx(MEAN_S, rel=0.005)


def test_a_reset_and_all_actions_fill_an_episode():
    assert pytest.approx(1.0) == RESET_SHARE + ACTIONS * ACTION_SHARE


def test_episodes_of_the_paper_spread_a_hundredfold():
    spread = times("paper")
    assert max(spread) / min(spread) == pytest.approx(100.0)


def test_in_a_two_speed_fleet_every_other_device_is_four_times_slower():
    pace = EpisodeDurations("two-speed", 0.01)
    assert [pace.episode_s(slot, 0.5) for slot in range(4)] == pytest.approx([1.0, 4.0, 1.0, 4.0])


def test_the_tail_is_heavier_than_exponential_and_ends():
    tail = sorted(times("heavy-tail"))
    assert tail[-20] > 2.0 * MEAN_S * 3.0
    assert tail[-1] <= 150.5 * 50.0


def test_the_scale_shortens_everything_alike():
    rng = random.Random(0)
    for profile in PROFILES:
        quantile = rng.random()
        assert EpisodeDurations(profile, 0.5).episode_s(3, quantile) == pytest.approx(
            0.5 * EpisodeDurations(profile, 1.0).episode_s(3, quantile)
        )


def test_an_unknown_profile_is_refused_with_the_known_ones():
    with pytest.raises(UnknownName, match="heavy-tail"):
        EpisodeDurations("heavytail", 1.0)
