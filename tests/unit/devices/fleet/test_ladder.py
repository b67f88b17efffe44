from __future__ import annotations

import pytest
from flaky_devices import PHONE, TROUBLE, FlakyDevice
from toy import ToyDevice

from distrl.config import DevicesConfig
from distrl.devices.fleet.ladder import DEFAULT_RUNGS, LADDER, STEP_DOWN_AFTER, LadderStart, RecoveryPolicy
from distrl.errors import EpisodeTooLong, NoSuchDevice, NotAuthorized


def climbable(policy: RecoveryPolicy, device: object, fault: Exception = TROUBLE) -> list[str]:
    return [rung for rung in LADDER if policy.may_try(rung, device, fault)]  # type: ignore[arg-type]


def test_the_ladder_is_the_one_of_the_faults():
    assert " ".join(LADDER) == "retry reconnect restart helper force-stop app snapshot reboot wipe"


def test_a_device_climbs_what_it_has_and_no_more_than_it_may():
    assert climbable(RecoveryPolicy(), FlakyDevice()) == list(PHONE)
    assert climbable(RecoveryPolicy(last_rung="force-stop app"), FlakyDevice()) == list(PHONE[:4])
    assert climbable(RecoveryPolicy(), ToyDevice()) == climbable(RecoveryPolicy(), None) == list(DEFAULT_RUNGS)


@pytest.mark.parametrize("fault", [NoSuchDevice("gone"), NotAuthorized("adb://x")])
def test_who_is_not_there_or_trusts_nobody_is_only_asked_again(fault):
    assert climbable(RecoveryPolicy(), FlakyDevice(), fault) == list(DEFAULT_RUNGS)


def test_a_device_that_breaks_again_begins_one_rung_higher_until_that_is_forgotten():
    start = LadderStart()
    assert start.rungs(TROUBLE) == LADDER
    start.rung_helped("reconnect")
    assert start.rungs(TROUBLE)[0] == "restart helper"
    for _ in range(STEP_DOWN_AFTER):
        start.on_good_episode()
    assert start.rungs(TROUBLE)[0] == "reconnect"
    start.rung_helped("wipe")
    assert start.rungs(TROUBLE) == ()
    start.reset()
    assert start.rungs(TROUBLE) == LADDER


def test_what_is_not_the_device_s_fault_begins_at_the_bottom_and_who_left_is_always_called():
    start = LadderStart()
    start.rung_helped("reboot")
    assert start.rungs(EpisodeTooLong("toy://0", 1.0)) == LADDER
    assert start.rungs(NoSuchDevice("gone"))[0] == "reconnect"


def test_a_rung_that_boots_has_the_time_of_a_boot_and_every_rung_has_an_end():
    policy = RecoveryPolicy(command_s=5.0, boot_s=30.0)
    assert {policy.deadline_s(rung) for rung in ("retry", "snapshot", "reboot", "wipe")} == {30.0}
    assert {policy.deadline_s(rung) for rung in ("reconnect", "restart helper", "force-stop app")} == {5.0}
    assert {rung: list(policy.pauses_s(rung)) for rung in LADDER if rung in ("retry", "reconnect", "reboot")} == {
        "retry": [0.0], "reconnect": [0.0, 1.0, 2.0], "reboot": [0.0, 1.0]
    }  # fmt: skip


def test_a_quarantine_doubles_up_to_its_cap():
    policy = RecoveryPolicy(quarantine_s=60.0, longest_s=200.0)
    assert [policy.quarantine_duration_s(times, TROUBLE) for times in (0, 1, 2, 10_000)] == [60.0, 120.0, 200.0, 200.0]
    assert RecoveryPolicy(quarantine_s=60.0, longest_s=10.0).quarantine_duration_s(3, TROUBLE) == 60.0


def test_who_is_only_not_there_is_looked_for_sooner():
    policy, absent = RecoveryPolicy(quarantine_s=60.0, longest_s=200.0), NoSuchDevice("no such phone")
    assert [policy.quarantine_duration_s(times, absent) for times in (0, 1, 4, 10_000)] == [5.0, 10.0, 80.0, 200.0]
    assert RecoveryPolicy(quarantine_s=0.5).quarantine_duration_s(0, absent) == 0.5


def test_the_settings_make_the_policy():
    settings = DevicesConfig(boot_timeout_s=9.0, last_rung="reboot", quarantine_s=1.0, quarantine_longest_s=2.0)
    assert RecoveryPolicy.of(settings) == RecoveryPolicy(60.0, 9.0, "reboot", 1.0, 2.0)
