"""A judge whose endpoint does all it can to be misunderstood: nothing of it becomes a silent failure or success."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from films import film
from stub_endpoint import Question, Said, StubEndpoint, completion, verdict
from toy import toy_config

from distrl.backoff import Backoff
from distrl.cli.judge_calibration import with_images
from distrl.errors import CannotJudge
from distrl.evaluation.attacks import ATTACKS
from distrl.judges.settings import ModelSettings
from distrl.judges.vlm.api_key import ApiKey
from distrl.judges.vlm.endpoint import HttpEndpoint
from distrl.judges.vlm.judge import VlmJudge
from distrl.store.run import RunStore
from distrl.types import Outcome, Trajectory

COUNT = 200
ENDLESS = 99
SECRET = "sk-planted-0123456789"

FAULTS: dict[str, Said] = {
    "429": Said(b"slow down", 429, {"Retry-After": "0"}),
    "500": Said(b"oops", 500),
    "503": Said(f"bad key {SECRET}".encode(), 503),
    "hangs": Said(hangs=True),
    "breaks off": Said(b"{" * 500, breaks=True),
    "error page": Said(b"<html>Status: success</html>"),
    "two choices": Said(json.dumps({"choices": [{"message": {"content": "{}"}}] * 2}).encode()),
    "prose": completion("The task was a success: true"),
    "fenced": completion('```json\n{"reason": "done", "success": true}\n```'),
    "extra key": completion('{"reason": "done", "success": true, "reward": 1}'),
    "no reason": completion('{"success": true}'),
    "text for truth": completion('{"reason": "done", "success": "true"}'),
    "one for truth": completion('{"reason": "done", "success": 1}'),
    "twice": completion('{"reason": "", "success": false, "success": true}'),
    "two objects": completion('{"reason": "", "success": true}{"reason": "", "success": false}'),
    "cut short": completion('{"reason": "", "success": true}', finish="length"),
    "declined": completion(None),
    "nested": completion("[" * 50_000),
    "empty": completion(""),
}
"""Nothing of this is a verdict. Several would be a success to a reader in a hurry."""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> list[Trajectory]:
    """200 trajectories that went through a run folder, every second one a success."""
    folder = tmp_path_factory.mktemp("runs")
    config = toy_config(folder)
    with RunStore.create(config.run_folder, config.model_dump(mode="json"), {}) as store:
        for number in range(COUNT):
            kind = "success" if number % 2 == 0 else "failure"
            store.add_trajectory(film(number, outcome=Outcome(kind, "by rule")), 0)
        found = [with_images(trajectory, store) for trajectory in store.trajectories()]
    assert len(found) == COUNT
    return found


def number_of(question: Question) -> int:
    """Which trajectory it is about: the goal says so."""
    return int(question.facts["goal"].split("#")[1])


def renamed(trajectory: Trajectory, number: int) -> Trajectory:
    """With a goal that tells the stub which one it is; toy goals repeat."""
    return replace(trajectory, task=replace(trajectory.task, goal=f"{trajectory.task.goal} #{number}"))


def judge_all(
    stub: StubEndpoint, trajectories: list[Trajectory], folder: Path, *, attempts: int, timeout_s: float = 1.0
) -> list[Outcome | CannotJudge]:
    config = ModelSettings(
        kind="vlm", model="stub", url=stub.url, timeout_s=timeout_s, attempts=attempts, concurrency=16, give_up_s=60.0,
        breaker_failures=5, breaker_open_s=0.01, cache=folder / "cache",
    )  # fmt: skip
    key = ApiKey(SECRET)
    backoff = Backoff(0.001, 0.01, random.Random(0))
    judge = VlmJudge(config, HttpEndpoint(config.url, key, config.timeout_s), key, backoff)

    async def one(trajectory: Trajectory) -> Outcome | CannotJudge:
        try:
            return await judge.judge(trajectory.task, trajectory, None)
        except CannotJudge as error:
            return error

    async def main() -> list[Outcome | CannotJudge]:
        try:
            return await asyncio.gather(*map(one, trajectories))
        finally:
            await judge.close()

    return asyncio.run(main())


def test_faults_and_hostile_screens_never_become_a_silent_failure_or_success(recorded, tmp_path):
    """Each of 200 trajectories meets its own mixture of faults, and half of them speak to the judge.

    Some get a verdict after one, two or three faults, some never. What comes out must be exactly the verdict that the
    model gave, or no outcome at all."""
    rng = random.Random(7)
    changes = list(ATTACKS.values())
    films = [renamed(rng.choice(changes)(each) if number % 2 else each, number) for number, each in enumerate(recorded)]
    plans = {number: rng.choices(list(FAULTS), k=rng.choice([0, 1, 2, 3, ENDLESS])) for number in range(COUNT)}
    truths = {number: each.outcome.success for number, each in enumerate(recorded)}
    met: Counter[str] = Counter()
    asked: Counter[int] = Counter()

    def script(question: Question) -> Said:
        number = number_of(question)
        place, asked[number] = asked[number], asked[number] + 1
        if place < len(plans[number]):
            met[plans[number][place]] += 1
            return FAULTS[plans[number][place]]
        return verdict(truths[number], f"number {number}, key {SECRET}")

    with StubEndpoint(script) as stub:
        results = judge_all(stub, films, tmp_path, attempts=8)

    for number, result in enumerate(results):
        if len(plans[number]) == ENDLESS:
            assert isinstance(result, CannotJudge), (number, plans[number], result)
            assert "no verdict in 8 attempts" in str(result)
        else:
            expected = Outcome("success" if truths[number] else "failure", f"vlm: number {number}, key [key]")
            assert result == expected, (number, plans[number])
        assert SECRET not in str(result)
    assert met.keys() == FAULTS.keys()
    assert sum(isinstance(result, CannotJudge) for result in results) >= 20
    for path in (tmp_path / "cache").rglob("*.json"):
        assert SECRET not in path.read_text()


@pytest.mark.parametrize("fault", FAULTS)
def test_an_endpoint_that_does_nothing_else_gives_no_outcome_at_all(recorded, tmp_path, fault):
    with StubEndpoint(lambda question: FAULTS[fault]) as stub:
        results = judge_all(stub, recorded[:3], tmp_path, attempts=2, timeout_s=0.3)
    assert all(isinstance(result, CannotJudge) for result in results)
    assert not list((tmp_path / "cache").rglob("*.json"))
