"""Whom the driver does not let in. Nothing here gets as far as Ray; tests/faults/test_machines.py does."""

from __future__ import annotations

from typing import Any

from local_ray import local
from toy import ToyBuilder, toy_config

from distrl.runtime.join_requests import Candidate, JoinRequest, JoinStatus
from distrl.runtime.ray.joined_workers import JoinedWorkers


def answers(tmp_path: Any, *requests: JoinRequest, taken: tuple[str, ...] = ()) -> dict[str, JoinStatus]:
    """What the host is told after these requests."""
    config = toy_config(tmp_path)
    workers = JoinedWorkers(ToyBuilder(config), "toy-1", lambda: list(taken), local(None), lambda _: None)
    workers.tend(lambda _: list(requests))
    heard: dict[str, JoinStatus] = {}

    def listen(statuses: dict[str, JoinStatus]) -> list[JoinRequest]:
        heard.update(statuses)
        return []

    workers.tend(listen)
    return heard


def request(name: str, *overrides: str, leaving: bool = False) -> JoinRequest:
    return JoinRequest(Candidate(name, f"key of {name}", "node", "code", "0.1.0", "/spool", overrides), leaving)


def test_a_second_machine_of_a_name_waits_and_is_told_why(tmp_path: Any) -> None:
    status = answers(tmp_path, request("phones"), taken=("phones",))["key of phones"]
    assert status.status == "waiting"
    assert "a worker named phones plays already" in status.detail
    assert "--name" in status.detail


def test_a_machine_that_wants_to_change_the_run_is_refused(tmp_path: Any) -> None:
    status = answers(tmp_path, request("phones", "policy.temperature=2"))["key of phones"]
    assert status.status == "refused"
    assert "policy.temperature=2 belongs to the run" in status.detail


def test_whoever_leaves_before_it_played_has_left(tmp_path: Any) -> None:
    assert answers(tmp_path, request("phones", leaving=True))["key of phones"] == JoinStatus("left")
