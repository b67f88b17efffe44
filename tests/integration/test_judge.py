"""A worker with a model as judge, over real HTTP, into a real run folder."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from stub_endpoint import Question, Said, StubEndpoint, verdict
from toy import ToyBuilder, toy_config

from distrl.config import Config
from distrl.errors import ConfigError
from distrl.host.host import Host
from distrl.judges.chain import ChainJudge
from distrl.judges.rules import RuleJudge
from distrl.judges.vlm.judge import VlmJudge
from distrl.runtime import launch
from distrl.runtime.local_client import LocalClient
from distrl.runtime.topology import Builder
from distrl.store.run import RunStore
from distrl.types import Trajectory
from distrl.worker.worker import Worker

SECRET = "sk-planted-0123456789abcdef"


class JudgedBuilder(ToyBuilder):
    """The toy world, judged as the config says."""

    def judge(self) -> Any:
        return Builder.judge(self)


@pytest.fixture
def config(tmp_path, monkeypatch) -> Callable[..., Config]:
    monkeypatch.setenv("PLANTED_KEY", SECRET)

    def make(url: str, **judge: Any) -> Config:
        settings = {"kind": "vlm", "model": "stub", "key_env": "PLANTED_KEY", "cache": str(tmp_path / "cache"), **judge}
        return toy_config(tmp_path, devices={"per_worker": 2}, judge={"url": url, **settings})

    return make


def play(config: Config, during: Callable[[Worker, Host], Awaitable[None]]) -> list[Trajectory]:
    """A worker that plays for a host, until `during` has seen enough; then all that is in the store."""
    RunStore.create(config.run_folder, config.model_dump(mode="json"), {}).close()
    builder = JudgedBuilder(config)

    async def main() -> None:
        host = builder.host(time.time)
        worker = builder.worker("w", builder.server(builder.worker_policy(0)), LocalClient(host, "w"), time.time)
        running = asyncio.ensure_future(worker.run())
        try:
            await during(worker, host)
        finally:
            worker.stop()
            await running
            host.close()

    asyncio.run(main())
    with RunStore.read(config.run_folder) as store:
        return [*store.trajectories(), *store.trajectories(ids=store.ids(outcome="invalid"))]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60.0):
        while not condition():
            await asyncio.sleep(0.01)


def planted(folder: Path) -> list[Path]:
    """Files that hold the key, in any of its spellings that we know."""
    return [path for path in folder.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]


def test_devices_play_on_until_too_many_outcomes_are_pending_and_each_lease_ends_in_one_way(config):
    gate = threading.Event()

    def script(question: Question) -> Said:
        gate.wait(60.0)
        return verdict(question.number % 2 == 0)

    async def during(worker: Worker, host: Host) -> None:
        await until(lambda: len(worker.judging) == 5)
        await asyncio.sleep(0.5)  # time enough to start more, if anything let them
        assert len(worker.judging) == 5
        assert host.leases.in_flight == 5 + 2
        gate.set()
        await until(lambda: host.stats()["trajectories"] >= 25)

    with StubEndpoint(script) as stub:
        found = play(config(stub.url, max_pending=5, concurrency=3, cache=None), during)
    assert len({each.id for each in found}) == len(found) >= 25
    assert {each.outcome.kind for each in found} == {"success", "failure"}
    assert any(each.outcome.reason.startswith("vlm: ") for each in found)


def test_an_endpoint_that_refuses_makes_episodes_invalid_and_its_words_and_our_key_stay_apart(config, tmp_path, caplog):
    """A planted key is found in no artefact, though the endpoint echoes it wherever it can."""
    caplog.set_level("DEBUG")
    echo = f"key {SECRET} is wrong"

    def script(question: Question) -> Said:
        assert question.headers["Authorization"] == f"Bearer {SECRET}"
        if question.number % 2:
            return Said(echo.encode(), 401, {"X-Echo": "no"})
        return verdict(True, echo)

    async def during(worker: Worker, host: Host) -> None:
        await until(lambda: host.stats()["trajectories"] >= 4 and host.stats()["invalid"] >= 4)

    with StubEndpoint(script) as stub:
        found = play(config(stub.url, breaker_failures=1000), during)
        (tmp_path / "caplog.txt").write_text(caplog.text)
    reasons = {each.outcome.kind: each.outcome.reason for each in found if "[key]" in each.outcome.reason}
    assert "JudgeRefused" in reasons["invalid"]
    assert reasons["success"] == "vlm: key [key] is wrong"
    with RunStore.read(tmp_path / "toy") as store:
        kinds = {event.kind: event.detail for event in store.events()}
        assert "does not take the key" in kinds["judge_fails"]
        assert json.loads(kinds["judge_account"].split(": ", 1)[1])["asked"] == len(stub.questions)
    assert list((tmp_path / "cache").rglob("*.json"))
    assert planted(tmp_path) == []


def test_the_config_chooses_the_judge(config):
    kinds = {kind: type(Builder(config("http://127.0.0.1:9/v1", kind=kind)).judge()) for kind in ("vlm", "chain")}
    assert kinds == {"vlm": VlmJudge, "chain": ChainJudge}
    assert isinstance(Builder(Config()).judge(), RuleJudge)


def test_the_serial_runtime_asks_nobody_outside(config):
    with pytest.raises(ConfigError, match="serial runtime asks nobody"):
        launch(config("http://127.0.0.1:9/v1"), serial=True, builder=JudgedBuilder)
