from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy import ToyDevice, ToyJudge, ToyPolicy, toy_config, toy_task

from distrl.devices.base import Health
from distrl.errors import StorageFull, Unreachable
from distrl.policies.server import PolicyServer
from distrl.runtime.clock import run_virtually
from distrl.runtime.evaluation import MemorySpool
from distrl.store.codec import decode, encode
from distrl.types import Features, Lease, Outcome, Prompt, Receipt, Screen, Trajectory, VersionedWeights
from distrl.worker import feature_upload
from distrl.worker.episode import TrajectoryIds
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.spool import Spool
from distrl.worker.worker import Worker


class FakeHost:
    """Leases toy tasks and keeps what it is given. `moods` are what `deliver` does first, one per call."""

    def __init__(self, tasks: int, moods: Sequence[str] = ()) -> None:
        self.tasks = [toy_task(number) for number in range(tasks)]
        self.moods = list(moods)
        self.weights: VersionedWeights | None = None
        self.received: list[Trajectory] = []
        self.given_back: list[str] = []
        self.events: list[str] = []
        self.leased = 0
        self.endless = False
        self.shared: list[tuple[int, Features]] = []
        self.deaf = False
        self.healths: list[Health] = []

    async def join(self, worker: str) -> int:
        return 1

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        if not self.tasks:
            return [] if self.endless else None
        self.leased += 1
        return [Lease(f"{self.leased}", self.tasks.pop(0), 1e9)]

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        self.given_back += lease_ids

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        return [self._take(payload) for payload in payloads]

    def _take(self, payload: bytes) -> Receipt:
        mood = self.moods.pop(0) if self.moods else "well"
        if mood == "silent":
            raise Unreachable("host", "deliver", 1.0)
        if mood != "well":
            return Receipt(mood)  # type: ignore[arg-type]
        self.received.append(decode(payload))
        return Receipt("inserted")

    async def share(self, features: Features) -> None:
        self.shared.append((len(self.received), features))
        if self.deaf:
            raise Unreachable("host", "share", 1.0)

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        return self.weights if self.weights and self.weights.version > newer_than else None

    async def report(self, worker: str, kind: str, detail: str) -> None:
        self.events.append(kind)

    async def health(self, worker: str, health: Health) -> None:
        self.healths.append(health)


def work(
    host: FakeHost,
    tmp_path: Path,
    *,
    device: Callable[[int], Any] = lambda slot: ToyDevice(f"toy://{slot}"),
    spool: Any = None,
    during: Callable[[Worker], Any] | None = None,
    policy: Any = None,
    **changes: Any,
) -> Worker:
    """Let a worker play all that the host has, on a virtual clock."""

    async def main(loop: Any) -> Worker:
        async def open_device(slot: int) -> Any:
            return device(slot)

        worker = Worker(
            "w",
            toy_config(tmp_path, **changes),
            client=host,
            policy_client=PolicyServer(policy or ToyPolicy(), batch_size=8),
            judge=ToyJudge(),
            open_device=open_device,
            spool=spool or Spool(tmp_path / "spool"),
            now=loop.time,
        )
        running = asyncio.ensure_future(worker.run())
        if during:
            await during(worker)
        await running
        return worker

    return run_virtually(main)


def test_every_task_becomes_one_delivered_trajectory(tmp_path: Path) -> None:
    host = FakeHost(20)
    worker = work(host, tmp_path)
    assert sorted(t.task.id for t in host.received) == sorted(toy_task(n).id for n in range(20))
    assert len({t.id for t in host.received}) == 20
    assert worker.uploader.spool.pending() == []


def test_no_device_waits_for_another(tmp_path: Path) -> None:
    host = FakeHost(40)
    work(host, tmp_path, device=lambda slot: ToyDevice(f"toy://{slot}", latency_s=100.0 if slot == 0 else 0.1))
    slow = [t for t in host.received if t.device == "toy://0#0"]
    assert 1 <= len(slow) <= 2  # while one crawls, the other two play all the rest
    assert len(host.received) == 40


def test_devices_that_share_an_address_are_told_apart(tmp_path: Path) -> None:
    host = FakeHost(12)
    work(host, tmp_path, device=lambda slot: ToyDevice("toy://phone"), devices={"per_worker": 3})
    assert {t.device for t in host.received} == {"toy://phone#0", "toy://phone#1", "toy://phone#2"}


def test_what_an_earlier_process_left_in_the_spool_is_delivered_first(tmp_path: Path) -> None:
    left = Trajectory("0" * 8 + "-0000-4000-8000-" + "0" * 12, toy_task(99), (), Outcome("failure"))
    Spool(tmp_path / "spool").put(left.id, encode(left))
    host = FakeHost(2)
    work(host, tmp_path)
    assert host.received[0].id == left.id
    assert len(host.received) == 3


def test_delivery_is_repeated_until_the_host_has_taken_it(tmp_path: Path) -> None:
    host = FakeHost(3, moods=["silent", "later", "silent", "later"])
    worker = work(host, tmp_path)
    assert len(host.received) == 3
    assert worker.uploader.spool.pending() == []


def test_bytes_that_the_host_refuses_stay_in_the_spool_and_their_lease_is_given_back(tmp_path: Path) -> None:
    host = FakeHost(2, moods=["refused"])
    worker = work(host, tmp_path, devices={"per_worker": 1})
    assert len(worker.uploader.spool.pending()) == 1
    assert "refused" in host.events
    assert len(host.received) == 1
    assert host.given_back == ["1"]


def test_a_lost_device_costs_one_episode_and_is_opened_again(tmp_path: Path) -> None:
    opened: list[ToyDevice] = []

    def device(slot: int) -> ToyDevice:
        lost_at = [2] if slot == 0 and not any(d.address == "toy://0" for d in opened) else []
        opened.append(ToyDevice(f"toy://{slot}", lost_at=lost_at))
        return opened[-1]

    host = FakeHost(20)
    work(host, tmp_path, device=device)
    outcomes = [t.outcome.kind for t in host.received]
    assert outcomes.count("invalid") == 1
    assert len(outcomes) == 20
    assert [d.address for d in opened].count("toy://0") == 2
    assert all(d.closed for d in opened)
    assert "device_lost" in host.events


def test_stop_gives_back_what_is_being_played_and_delivers_what_is_finished(tmp_path: Path) -> None:
    host = FakeHost(1000)

    async def stop_soon(worker: Worker) -> None:
        await asyncio.sleep(1.0)
        worker.stop()

    worker = work(host, tmp_path, during=stop_soon)
    assert len(host.given_back) == 3
    assert len(host.received) == host.leased - 3
    assert worker.uploader.spool.pending() == []


def test_a_full_spool_starts_no_episode(tmp_path: Path) -> None:
    class Heavy(MemorySpool):
        @property
        def size_bytes(self) -> int:
            return (2 * 2**20) * len(self.pending())

    host = FakeHost(50, moods=["later"] * 40)
    host.endless = True
    played: list[int] = []

    async def watch(worker: Worker) -> None:
        await asyncio.sleep(5.0)
        played.append(host.leased)
        worker.stop()

    work(host, tmp_path, spool=Heavy(), during=watch, workers={"spool_mb": 1})
    assert played[0] <= 4  # the three that were playing when the first was finished, and no more


def test_a_full_disk_holds_the_slot_and_loses_nothing(tmp_path: Path) -> None:
    class Cramped(MemorySpool):
        refusals = 3

        def put(self, identifier: str, payload: bytes, /) -> None:
            if self.refusals:
                self.refusals -= 1
                raise StorageFull("no room")
            super().put(identifier, payload)

    host = FakeHost(5)
    work(host, tmp_path, spool=Cramped())
    assert len(host.received) == 5
    assert "spool_full" in host.events


def test_new_weights_are_taken_while_devices_play(tmp_path: Path) -> None:
    host = FakeHost(60)

    async def publish(worker: Worker) -> None:
        await asyncio.sleep(0.3)
        host.weights = VersionedWeights.seal(5, ToyPolicy().weights())

    work(host, tmp_path, during=publish, device=lambda slot: ToyDevice(f"toy://{slot}", latency_s=0.2))
    versions = [s.decision.policy_version for t in host.received for s in t.steps]
    assert versions[0] == 0
    assert versions[-1] == 5


def test_torn_weights_are_refused_once_and_the_old_ones_stay(tmp_path: Path) -> None:
    host = FakeHost(60)
    good = VersionedWeights.seal(5, ToyPolicy().weights())
    host.weights = replace(good, arrays={**good.arrays, "logits": np.zeros_like(good.arrays["logits"])})
    work(host, tmp_path, device=lambda slot: ToyDevice(f"toy://{slot}", latency_s=0.2))
    assert {s.decision.policy_version for t in host.received for s in t.steps} == {0}
    assert host.events.count("weights_refused") == 1


def test_a_policy_that_breaks_ends_the_worker_with_its_error(tmp_path: Path) -> None:
    class Broken(ToyPolicy):
        def act(self, prompts: Sequence[Prompt]) -> Any:
            raise ArithmeticError("no answer")

    host = FakeHost(9)
    with pytest.raises(ArithmeticError):
        work(host, tmp_path, policy=Broken())


def screens_of(trajectory: Trajectory) -> set[str]:
    return {step.screen.digest for step in trajectory.steps}


def test_features_go_ahead_of_the_trajectory_and_each_screen_s_only_once(tmp_path: Path) -> None:
    host = FakeHost(20)
    work(host, tmp_path)
    sent = [digest for _, features in host.shared for digest in features]
    assert set(sent) == set().union(*map(screens_of, host.received))
    assert len(sent) == len(set(sent))
    for place, features in host.shared:
        assert features.keys().isdisjoint(set().union(*map(screens_of, host.received[:place])))


def test_features_that_do_not_arrive_hold_nothing_up(tmp_path: Path) -> None:
    host = FakeHost(20, moods=["silent", "later"])
    host.deaf = True
    worker = work(host, tmp_path)
    assert host.shared
    assert len(host.received) == 20
    assert worker.uploader.spool.pending() == []


def test_features_stay_at_home_when_told_so(tmp_path: Path) -> None:
    host = FakeHost(5)
    work(host, tmp_path, workers={"share_features": False})
    assert host.shared == []
    assert len(host.received) == 5


def test_features_of_an_invalid_trajectory_are_not_sent(tmp_path: Path) -> None:
    host = FakeHost(1)
    work(host, tmp_path, devices={"per_worker": 1}, device=lambda slot: ToyDevice("toy://0", lost_at=[2]))
    assert [t.outcome.kind for t in host.received] == ["invalid"]
    assert host.shared == []


def test_what_is_remembered_of_what_was_sent_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_upload, "REMEMBERED", 2)
    host, policy = FakeHost(0), ToyPolicy()
    upload = feature_upload.FeatureUpload(policy.known_features, TolerantHostClient("w", host))
    for name in ("a", "b", "c", "a"):
        policy.act([Prompt("press 0", screen := Screen(name.encode(), 8, 8))])
        asyncio.run(upload.send([screen.digest]))
    assert len(host.shared) == 4  # "a" was forgotten


def test_ids_repeat_for_one_incarnation_and_never_for_two() -> None:
    first, again, other = TrajectoryIds(7, 1), TrajectoryIds(7, 1), TrajectoryIds(7, 2)
    ids = [first() for _ in range(50)]
    assert ids == [again() for _ in range(50)]
    assert not set(ids) & {other() for _ in range(50)}
    assert all(len(i) == 36 and i[14] == "4" for i in ids)
