from __future__ import annotations

from dataclasses import asdict

import pytest

from distrl.config import Config
from distrl.errors import ConfigError
from distrl.runtime.join_requests import EXPIRY_S, Candidate, JoinRequests, JoinStatus, Status, joined_config

MACHINE = Candidate("phones", "key", "node", "code", "0.1.0", "/spool", ("devices.per_worker=4",))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_poll_reaches_the_driver_and_is_answered_what_the_driver_said() -> None:
    requests = JoinRequests("code", Clock())
    assert requests.poll(asdict(MACHINE), False)["status"] == "waiting"
    assert [request.candidate for request in requests.exchange({})] == [MACHINE]
    requests.exchange({"key": JoinStatus("playing", "4 devices")})
    assert requests.poll(asdict(MACHINE), False) == {"status": "playing", "detail": "4 devices"}
    requests.poll(asdict(MACHINE), True)
    assert requests.exchange({})[0].leaving


def test_a_machine_with_other_code_is_refused_and_told_why_and_never_gets_to_the_driver() -> None:
    requests = JoinRequests("ours", Clock())
    answer = requests.poll({"code": "theirs", "version": "0.0.9", "fields": "of another version"}, False)
    assert answer["status"] == "refused"
    assert "0.0.9 (code theirs)" in answer["detail"]
    assert "code ours" in answer["detail"]
    assert requests.exchange({}) == []


def test_a_candidate_that_stops_polling_is_dropped() -> None:
    clock = Clock()
    requests = JoinRequests("code", clock)
    requests.poll(asdict(MACHINE), False)
    clock.now = EXPIRY_S + 1.0
    assert requests.exchange({}) == []


def test_a_host_that_starts_again_gets_every_request_again() -> None:
    statuses = {"key": JoinStatus("playing")}
    requests = JoinRequests("code", Clock())
    requests.exchange(statuses)
    assert requests.poll(asdict(MACHINE), False)["status"] == "playing"
    assert [request.candidate for request in requests.exchange(statuses)] == [MACHINE]


def test_the_end_of_the_training_is_known_once_everybody_has_heard_it() -> None:
    requests = JoinRequests("code", Clock())
    requests.poll(asdict(MACHINE), False)
    assert requests.end("the training is over") == 1
    assert requests.poll(asdict(MACHINE), False) == {"status": "over", "detail": "the training is over"}
    assert requests.end("the training is over") == 0
    assert requests.poll({**asdict(MACHINE), "key": "of a candidate that comes too late"}, False)["status"] == "over"


@pytest.mark.parametrize("status", ["left", "refused"])
def test_a_candidate_that_was_told_its_end_is_dropped(status: Status) -> None:
    requests = JoinRequests("code", Clock())
    requests.poll(asdict(MACHINE), False)
    assert len(requests.exchange({"key": JoinStatus(status)})) == 1
    requests.poll(asdict(MACHINE), False)
    assert requests.exchange({}) == []


def test_a_machine_may_say_which_devices_it_has_and_where_its_model_computes() -> None:
    config = joined_config(
        Config(), ("devices.address=sim://phone?latency=emulator", "devices.per_worker=3", "policy.device=cpu")
    )
    assert config.devices.per_worker == 3
    assert config.devices.address == "sim://phone?latency=emulator"
    assert config.policy.device == "cpu"
    assert config.run == Config().run


@pytest.mark.parametrize("override", ["policy.temperature=0.5", "run.seed=3", "policy.history=0", "devices=3"])
def test_a_machine_may_not_change_what_the_learner_relies_on(override: str) -> None:
    with pytest.raises(ConfigError, match="belongs to the run"):
        joined_config(Config(), (override,))


def test_a_setting_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="per_wurker"):
        joined_config(Config(), ("devices.per_wurker=3",))
