"""The table of methods, and the configs that come of it."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path

import pytest

from distrl.bench.learning.methods import GROUPS, METHODS, OURS, RIVALS, choose
from distrl.bench.learning.plan import GREEDY, WARM_START, RaceEntry, RacePlan, evaluation_config, shares, without_waits
from distrl.bench.learning.race import differing
from distrl.errors import ConfigError, UnknownName
from distrl.replay.pacing import Pacing

PLAN = RacePlan("general", "emulator", 10.0, dict.fromkeys(METHODS, 3), Path("runs/race"))


def test_every_method_differs_from_the_shared_settings_in_what_the_table_says_and_in_nothing_else():
    base = PLAN.config(RaceEntry(WARM_START, 0)).model_dump(mode="json")
    for name, method in METHODS.items():
        config = PLAN.config(RaceEntry(name, 0)).model_dump(mode="json")
        changed = {line.partition(" ")[0] for line in differing(base, config)}
        assert changed == {setting.partition("=")[0] for setting in method.settings}, name


def test_an_ablation_differs_from_what_it_is_compared_with_in_one_setting():
    for name, method in METHODS.items():
        if method.against:
            assert len(set(method.settings) - set(METHODS[method.against].settings)) == 1, name


def test_methods_that_are_compared_are_in_the_table():
    assert {OURS, *RIVALS} <= METHODS.keys()
    assert all(set(group) <= METHODS.keys() for group in GROUPS.values())


@pytest.mark.parametrize(("devices", "reuse", "steps"), [(32, 4, 4), (160, 8, 40), (8, 1, 1)])
def test_a_round_s_learner_steps_grow_with_its_devices_and_with_reuse(devices, reuse, steps):
    changes = (f"devices.per_worker={devices}", f"pacing.max_reuse={reuse}", "learner.trajectories_per_step=32")
    config = replace(PLAN, changes=changes).config(RaceEntry("digirl_sync", 0))
    assert config.learner.publish_every == steps


def test_a_synchronous_round_gives_every_device_one_episode():
    config = PLAN.config(RaceEntry("digirl_sync", 0))
    pacing = Pacing(config.pacing)
    devices = config.workers.count * config.devices.per_worker
    assert pacing.may_start(in_flight=devices - 1, backlog=0)
    assert not pacing.may_start(in_flight=devices, backlog=0)
    assert pacing.may_learn(in_flight=0, backlog=devices)
    assert not pacing.may_learn(in_flight=1, backlog=devices - 1)


def test_settings_for_all_reach_all_and_a_method_keeps_what_makes_it_so():
    plan = replace(PLAN, changes=("devices.per_worker=6", "pacing.max_lag=3"))
    assert plan.config(RaceEntry("a_ride", 1)).pacing.max_lag == 3
    synchronous = plan.config(RaceEntry("a_ride_sync", 1)).pacing
    assert (synchronous.max_lag, synchronous.trajectories_per_version) == (0, 6)


def test_a_setting_of_one_algorithm_reaches_the_methods_that_run_it_and_no_other():
    changes = ("algorithm.trust=0.2", "algorithm.instruction_filter=0.9", "algorithm.invalid_penalty=0.1")
    plan = replace(PLAN, changes=changes)
    a_ride, digirl, grpo = (
        plan.config(RaceEntry(name, 0)).algorithm.model_dump() for name in ("a_ride", RIVALS[1], "grpo")
    )
    assert (a_ride["trust"], a_ride["invalid_penalty"]) == (0.2, 0.1)
    assert (digirl["instruction_filter"], digirl["invalid_penalty"]) == (0.9, 0.1)
    assert set(grpo) == {"name", "surrogate_clip", "entropy_bonus", "failure_weight"}
    assert plan.config(RaceEntry(WARM_START, 0)).algorithm.name == "a_ride"


def test_a_setting_that_no_method_of_the_plan_has_is_refused():
    plan = replace(PLAN, methods={"a_ride": 1, "grpo": 1}, changes=("algorithm.instruction_filter=0.9",))
    with pytest.raises(ConfigError, match=r"'algorithm.instruction_filter' with algorithm.name=a_ride"):
        plan.config(RaceEntry("a_ride", 0))


def test_methods_are_chosen_by_name_or_group_once_and_in_the_order_of_the_table():
    assert list(choose(["grpo", "a_ride", "grpo"], 3)) == ["a_ride", "grpo"]
    lag = ["a_ride", "a_ride_lag16", "a_ride_lag16_uniform", "a_ride_lag16_no_retrace"]
    assert list(choose(["lag", "a_ride"], 3)) == lag
    with pytest.raises(UnknownName, match="Did you mean 'digirl_sync'"):
        choose(["digirl_snyc"], 3)


def test_a_method_may_have_a_number_of_seeds_of_its_own():
    wanted = {**dict.fromkeys(GROUPS["ablations"], 1), "a_ride": 3, "grpo": 2}
    assert choose(["ablations:1", "a_ride", "grpo:2"], 3) == wanted
    with pytest.raises(ConfigError, match="number of seeds, such as grpo:1"):
        choose(["grpo:none"], 3)


def test_runs_come_seed_by_seed_after_one_look_at_the_warm_start():
    entries = deque(replace(PLAN, methods={"a_ride": 2, "grpo": 1, "impala": 2}).entries())
    assert [entry.name for entry in entries] == [
        *(WARM_START, "a_ride-0", "grpo-0", "impala-0"),
        *("a_ride-1", "impala-1"),
    ]


@pytest.mark.parametrize("suite", ["general", "webshop"])
def test_all_three_test_splits_are_played_and_the_first_without_chance_too(suite):
    played = ("test-instances", "test-instances-greedy", "test-templates", "test-apps")
    assert replace(PLAN, suite=suite).tests() == played


def test_tests_are_played_on_phones_that_show_the_same_and_do_not_wait():
    assert without_waits("sim://phone?latency=emulator&scale=2&popups=0.1") == "sim://phone?popups=0.1"
    config = evaluation_config(PLAN.config(RaceEntry("a_ride", 0)), "test-apps", "some/model")
    assert config.devices.address == "sim://phone"
    assert (config.evaluation.split, config.policy.model) == ("test-apps", "some/model")
    assert config.evaluation.temperature == 1.0


def test_a_greedy_test_has_the_same_tasks_and_takes_the_likeliest_token():
    config = evaluation_config(PLAN.config(RaceEntry("a_ride", 0)), GREEDY, "some/model")
    assert (config.evaluation.split, config.evaluation.temperature) == ("test-instances", 0.0)


def test_runs_side_by_side_get_equal_shares_of_the_cores(monkeypatch):
    monkeypatch.setattr("distrl.bench.learning.plan.cores", lambda: list(range(7)))
    assert shares(3) == [[0, 1], [2, 3], [4, 5]]
    assert shares(9) == [list(range(7))] * 9
