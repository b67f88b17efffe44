"""Episodes that wait for their outcome while devices play on, on a virtual clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from toy import ToyDevice, ToyJudge, ToyPolicy, toy_config, toy_task

from distrl.errors import CannotJudge, StorageFull
from distrl.policies.server import PolicyServer
from distrl.runtime.clock import run_virtually
from distrl.runtime.evaluation import MemorySpool, TaskList
from distrl.store.codec import decode
from distrl.types import Lease, Outcome, Receipt, Task, Trajectory, Tree
from distrl.worker.episode import UNJUDGED, Played
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.judging import Judging
from distrl.worker.uploader import Uploader
from distrl.worker.worker import Worker


class SlowJudge(ToyJudge):
    """Takes its time. `gives_up` are the tasks, by number of question, that it cannot judge."""

    def __init__(self, takes_s: float = 100.0, gives_up: tuple[int, ...] = ()) -> None:
        self.takes_s = takes_s
        self.gives_up = gives_up
        self.asked = 0
        self.at_once = 0
        self.most_at_once = 0
        self.closed = False

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        self.asked += 1
        number = self.asked
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.at_once -= 1
        if number in self.gives_up:
            raise CannotJudge("The judge gave no verdict in 6 attempts.")
        return await super().judge(task, trajectory, evidence)

    async def close(self) -> None:
        self.closed = True

    def summary(self) -> Tree:
        return {"asked": self.asked}


class Host(TaskList):
    """Keeps account of what it leased, was given and was given back, and lets nothing be delivered twice."""

    def __init__(self, tasks: int) -> None:
        super().__init__("host", [toy_task(number) for number in range(tasks)])
        self.leased: list[str] = []
        self.given_back: list[str] = []
        self.delivered: list[Trajectory] = []
        self.events: list[tuple[str, str]] = []

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        leases = await super().lease(worker, count)
        self.leased += [lease.id for lease in leases or ()]
        return leases

    async def give_back(self, lease_ids: Any) -> None:
        self.given_back += lease_ids

    async def deliver(self, payloads: Any) -> list[Receipt]:
        self.delivered += [decode(payload) for payload in payloads]
        return await super().deliver(payloads)

    async def report(self, worker: str, kind: str, detail: str) -> None:
        self.events.append((kind, detail))


def work(
    host: Host,
    folder: Path,
    judge: Any,
    /,
    *,
    during: Callable[[Worker], Any] | None = None,
    spool: Any = None,
    **changes: Any,
) -> tuple[Worker, float]:
    """The worker after its end, and how long it took."""

    async def main(loop: Any) -> tuple[Worker, float]:
        async def open_device(slot: int) -> Any:
            return ToyDevice(f"toy://{slot}", latency_s=1.0)

        worker = Worker(
            "w",
            toy_config(folder, **{"devices": {"per_worker": 2}, **changes}),
            client=host,
            policy_client=PolicyServer(ToyPolicy(), batch_size=8),
            judge=judge,
            open_device=open_device,
            spool=spool or MemorySpool(),
            now=loop.time,
        )
        running = asyncio.ensure_future(worker.run())
        if during:
            await during(worker)
        await running
        return worker, loop.time()

    return run_virtually(main)


def test_devices_play_on_while_outcomes_are_waited_for(tmp_path):
    host, judge = Host(20), SlowJudge(takes_s=100.0)
    _, took_s = work(host, tmp_path, judge)
    assert len(host.delivered) == len({each.id for each in host.delivered}) == 20
    assert {each.outcome.kind for each in host.delivered} <= {"success", "failure"}
    assert took_s < 200.0  # one after the other it would be a thousand
    assert judge.most_at_once > 2
    assert judge.closed


def test_with_too_many_pending_the_devices_wait_too(tmp_path):
    host, judge = Host(30), SlowJudge(takes_s=500.0)
    counted: list[int] = []

    async def watch(worker: Worker) -> None:
        await asyncio.sleep(400.0)
        counted.extend([len(host.leased), len(worker.judging)])

    work(host, tmp_path, judge, during=watch, judge={"max_pending": 5})
    assert counted == [5 + 2, 5]  # five wait for their outcome, two devices for room
    assert judge.most_at_once == 5
    assert len(host.delivered) == 30


def test_a_judge_that_gives_up_makes_its_episode_invalid_with_its_reason_and_no_other(tmp_path):
    host = Host(12)
    work(host, tmp_path, SlowJudge(gives_up=(2, 5)))
    invalid = [each for each in host.delivered if each.outcome.kind == "invalid"]
    assert len(invalid) == 2
    assert all("CannotJudge('The judge gave no verdict in 6 attempts.')" in each.outcome.reason for each in invalid)
    assert len(host.results) == 12  # their tasks were played again
    assert {each.outcome.kind for each in host.results} <= {"success", "failure"}
    assert [kind for kind, _ in host.events if kind != "judge_account"][:2] == ["judge_fails", "judge_back"]


def test_a_judge_that_never_answers_is_not_waited_for_for_ever(tmp_path):
    host = Host(2)
    work(host, tmp_path, SlowJudge(takes_s=1e9), judge={"give_up_s": 50.0})
    assert {each.outcome.reason for each in host.delivered} == {"the judge failed: no outcome within 110 s"}


def test_stopping_waits_a_moment_for_outcomes_and_gives_back_what_has_none(tmp_path):
    for takes_s, comes in ((20.0, True), (5000.0, False)):
        host = Host(100)
        sizes: list[int] = []

        async def stop(worker: Worker, host: Host = host, sizes: list[int] = sizes) -> None:
            await asyncio.sleep(15.0)
            sizes.append(len(worker.judging))
            worker.stop()

        spool = MemorySpool()
        work(host, tmp_path, SlowJudge(takes_s), during=stop, spool=spool, judge={"max_pending": 6})
        assert sizes[0] >= 2
        delivered = [each.task.id for each in host.delivered]
        assert len(set(delivered)) == len(delivered)
        assert len(set(host.given_back)) == len(host.given_back)
        assert len(host.leased) == len(delivered) + len(host.given_back)  # each lease ended in one way
        assert bool(delivered) is comes
        assert spool.pending() == []


def test_a_worker_without_tasks_waits_for_every_outcome(tmp_path):
    host = Host(4)
    host._playing = _Forgetful()  # a host that says there is nothing left as soon as all is leased
    work(host, tmp_path, SlowJudge(takes_s=300.0))
    assert len(host.delivered) == 4
    assert host.given_back == []


class _Forgetful(dict):
    def __bool__(self) -> bool:
        return False


def test_a_cancelled_worker_leaves_no_lease_behind(tmp_path):
    host = Host(50)

    async def main(loop: Any) -> None:
        async def open_device(slot: int) -> Any:
            return ToyDevice(f"toy://{slot}", latency_s=1.0)

        config = toy_config(tmp_path, devices={"per_worker": 2}, judge={"max_pending": 3})
        worker = Worker(
            "w",
            config,
            client=host,
            policy_client=PolicyServer(ToyPolicy(), batch_size=8),
            judge=SlowJudge(1e6),
            open_device=open_device,
            spool=MemorySpool(),
            now=loop.time,
        )
        running = asyncio.ensure_future(worker.run())
        await asyncio.sleep(60.0)
        assert len(worker.judging) == 3
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtually(main)
    assert sorted(host.given_back) == sorted(host.leased)
    assert len(host.leased) == 5


@pytest.mark.parametrize("after_s", [0.0, 0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.001, 0.02])
def test_whenever_it_is_stopped_each_lease_ends_in_one_way(tmp_path, after_s):
    """From the very moment an episode ends, turn of the loop by turn of the loop."""
    host = Host(50)

    async def stop(worker: Worker) -> None:
        while not len(worker.judging):
            await asyncio.sleep(0)
        await asyncio.sleep(after_s)
        worker.stop()

    work(host, tmp_path, SlowJudge(1e6), during=stop)
    assert sorted(host.given_back) == sorted(host.leased)
    assert host.delivered == []


def test_a_disk_that_is_full_holds_the_device_and_loses_nothing(tmp_path):
    class Cramped(MemorySpool):
        refusals = 6

        def put(self, identifier: str, payload: bytes, /) -> None:
            if self.refusals:
                self.refusals -= 1
                raise StorageFull("no room")
            super().put(identifier, payload)

    host = Host(6)
    work(host, tmp_path, SlowJudge(takes_s=50.0), spool=Cramped())
    assert len(host.delivered) == 6
    assert "spool_full" in [kind for kind, _ in host.events]


def test_a_spool_that_breaks_ends_the_worker_with_its_error(tmp_path):
    class Broken(MemorySpool):
        def put(self, identifier: str, payload: bytes, /) -> None:
            raise ArithmeticError("no such disk")

    with pytest.raises(ArithmeticError, match="no such disk"):
        work(Host(6), tmp_path, SlowJudge(takes_s=50.0), spool=Broken())


def test_the_host_hears_what_the_judge_was_asked(tmp_path):
    host = Host(8)
    work(host, tmp_path, SlowJudge(takes_s=70.0), judge={"max_pending": 2})
    accounts = [json.loads(detail)["asked"] for kind, detail in host.events if kind == "judge_account"]
    assert len(accounts) >= 2
    assert accounts[-1] == 8
    assert accounts == sorted(set(accounts))


def test_an_episode_handed_over_in_the_very_moment_of_closing_is_given_back(tmp_path):
    host = Host(1)
    played = Played(Trajectory("an-id", toy_task(1), (), UNJUDGED, lease_id="1"), None)

    async def main(loop: Any) -> None:
        client = TolerantHostClient("w", host)
        uploader = Uploader(MemorySpool(), client, limit_bytes=1)
        judging = Judging(SlowJudge(), uploader, client, limit=1, timeout_s=1e6)
        submitting = asyncio.ensure_future(judging.submit(played))
        await asyncio.sleep(0)  # it is ours now, and nothing that belongs to it has run yet
        await judging.close()
        await submitting
        assert asyncio.all_tasks() == {asyncio.current_task()}

    run_virtually(main)
    assert host.given_back == ["1"]
