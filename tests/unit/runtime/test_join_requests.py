from __future__ import annotations

from dataclasses import asdict

import pytest

from distrl.config import Config
from distrl.errors import ConfigError
from distrl.runtime.join_requests import FORGET_S, Candidate, Gate, Standing, Status, guest_config

MACHINE = Candidate("phones", "key", "node", "code", "0.1.0", "/spool", ("devices.per_worker=4",))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_whoever_knocks_is_visited_and_hears_what_the_driver_said() -> None:
    gate = Gate("code", Clock())
    assert gate.knock(asdict(MACHINE), False)["status"] == "waiting"
    assert [visit.candidate for visit in gate.round({})] == [MACHINE]
    gate.round({"key": Standing("playing", "4 devices")})
    assert gate.knock(asdict(MACHINE), False) == {"status": "playing", "detail": "4 devices"}
    gate.knock(asdict(MACHINE), True)
    assert gate.round({})[0].leaving


def test_a_machine_with_other_code_is_refused_and_told_why_and_never_gets_to_the_driver() -> None:
    gate = Gate("ours", Clock())
    answer = gate.knock({"code": "theirs", "version": "0.0.9", "fields": "of another version"}, False)
    assert answer["status"] == "refused"
    assert "0.0.9 (code theirs)" in answer["detail"]
    assert "code ours" in answer["detail"]
    assert gate.round({}) == []


def test_whoever_is_silent_is_forgotten() -> None:
    clock = Clock()
    gate = Gate("code", clock)
    gate.knock(asdict(MACHINE), False)
    clock.now = FORGET_S + 1.0
    assert gate.round({}) == []


def test_a_host_that_starts_again_hears_everything_again() -> None:
    standings = {"key": Standing("playing")}
    gate = Gate("code", Clock())
    gate.round(standings)
    assert gate.knock(asdict(MACHINE), False)["status"] == "playing"
    assert [visit.candidate for visit in gate.round(standings)] == [MACHINE]


def test_the_end_of_the_training_is_known_once_everybody_has_heard_it() -> None:
    gate = Gate("code", Clock())
    gate.knock(asdict(MACHINE), False)
    assert gate.dismiss("the training is over") == 1
    assert gate.knock(asdict(MACHINE), False) == {"status": "over", "detail": "the training is over"}
    assert gate.dismiss("the training is over") == 0
    assert gate.knock({**asdict(MACHINE), "key": "somebody who comes too late"}, False)["status"] == "over"


@pytest.mark.parametrize("status", ["left", "refused"])
def test_whoever_has_heard_that_it_may_go_is_no_visitor_any_more(status: Status) -> None:
    gate = Gate("code", Clock())
    gate.knock(asdict(MACHINE), False)
    assert len(gate.round({"key": Standing(status)})) == 1
    gate.knock(asdict(MACHINE), False)
    assert gate.round({}) == []


def test_a_machine_may_say_which_devices_it_has_and_where_its_model_computes() -> None:
    config = guest_config(
        Config(), ("devices.address=sim://phone?latency=emulator", "devices.per_worker=3", "policy.device=cpu")
    )
    assert config.devices.per_worker == 3
    assert config.devices.address == "sim://phone?latency=emulator"
    assert config.policy.device == "cpu"
    assert config.run == Config().run


@pytest.mark.parametrize("override", ["policy.temperature=0.5", "run.seed=3", "policy.history=0", "devices=3"])
def test_a_machine_may_not_change_what_the_learner_relies_on(override: str) -> None:
    with pytest.raises(ConfigError, match="belongs to the run"):
        guest_config(Config(), (override,))


def test_a_setting_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="per_wurker"):
        guest_config(Config(), ("devices.per_wurker=3",))
