from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy import ToyPolicy, ToySuite, picture, toy_config

from distrl.devices.base import Health
from distrl.errors import StaleVersion, StorageFull
from distrl.host.host import Host
from distrl.host.leases import MAX_ATTEMPTS
from distrl.replay.buffer import ReplayBuffer
from distrl.store import run
from distrl.store.codec import encode
from distrl.store.run import RunStore
from distrl.types import Done, Lease, Outcome, Screen, Step, Trajectory, VersionedWeights


class World:
    """A host on a real store, a clock that is moved by hand, and a disk whose free space is."""

    def __init__(self, folder: Path, **changes: Any) -> None:
        self.config = toy_config(folder, **changes)
        self.now_s = 0.0
        self.free_mb = 1e6
        RunStore.create(folder / "toy", {}, {}).close()
        self.host = self.start()

    def start(self) -> Host:
        store = RunStore.open(self.config.run_folder)
        replay = ReplayBuffer(self.config.replay, np.random.default_rng(0))
        return Host(self.config, store, replay, ToySuite(), now=lambda: self.now_s, free_mb=lambda: self.free_mb)

    def restart(self, state: Any = None) -> Host:
        self.host.close()
        self.host = self.start()
        self.host.restore(state)
        return self.host

    def play(self, worker: str = "w", outcome: str = "success") -> bytes:
        (lease,) = self.host.lease(worker, 1)
        return encode(trajectory(lease, worker, outcome))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.host.close()


def trajectory(lease: Lease, worker: str = "w", outcome: str = "success", version: int = 0) -> Trajectory:
    decision = replace(ToyPolicy().act([prompt(lease)])[0], action=Done(), policy_version=version)
    screen = Screen(picture(lease.task.params["button"]), 8, 8)
    return Trajectory(
        str(uuid.uuid4()),
        lease.task,
        (Step(screen, decision),),
        Outcome(outcome, ""),
        screen,
        worker=worker,
        lease_id=lease.id,
    )


def prompt(lease: Lease) -> Any:
    from distrl.types import Prompt

    return Prompt(lease.task.goal, Screen(picture(0), 8, 8))


def sealed(version: int) -> VersionedWeights:
    return VersionedWeights.seal(version, {"w": np.full(3, version, dtype=np.float32)})


def test_a_delivered_trajectory_is_in_the_store_and_in_replay(world: World) -> None:
    assert world.host.deliver(world.play()).status == "inserted"
    assert world.host.store.counts().trajectories == 1
    assert len(world.host.replay) == 1
    assert world.host.leases.in_flight == 0
    assert world.host.stats()["success"] == 1.0


def test_a_second_delivery_changes_nothing(world: World) -> None:
    payload = world.play()
    world.host.deliver(payload)
    receipt = world.host.deliver(payload)
    assert receipt.status == "duplicate"
    assert receipt.settled
    assert world.host.store.counts().trajectories == 1
    assert len(world.host.replay) == 1


def test_an_invalid_trajectory_is_counted_kept_out_of_replay_and_its_task_played_again(world: World) -> None:
    (lease,) = world.host.lease("w", 1)
    assert world.host.deliver(encode(trajectory(lease, outcome="invalid"))).status == "invalid"
    assert world.host.store.counts().invalid == 1
    assert len(world.host.replay) == 0
    assert world.host.lease("other", 1)[0].task == lease.task


def test_bytes_that_are_no_trajectory_are_refused(world: World) -> None:
    assert world.host.deliver(b"\x80garbage").status == "refused"
    assert not world.host.deliver(b"").settled


def test_a_trajectory_that_nobody_could_learn_from_is_refused_and_poisons_nothing(world: World) -> None:
    (lease,) = world.host.lease("w", 1)
    good = trajectory(lease)
    (step,) = good.steps
    stepless = replace(good, steps=())
    not_finite = replace(good, steps=(replace(step, decision=replace(step.decision, logprobs=(float("nan"),))),))
    unseen = Screen(b"", 8, 8, digest="0" * 64)
    imageless = replace(good, steps=(replace(step, screen=unseen),), last_screen=unseen)
    for bad in (stepless, not_finite, imageless):
        assert world.host.deliver(encode(bad)).status == "refused"
    world.restart()
    assert (world.host.store.counts().trajectories, len(world.host.replay)) == (0, 0)
    assert [event.kind for event in world.host.store.events()].count("delivery_refused") == 3
    assert world.host.deliver(encode(good)).status == "inserted"


def test_the_task_of_a_refused_trajectory_is_played_again_at_once_but_not_for_ever(world: World) -> None:
    (lease,) = world.host.lease("w", 1)
    for _ in range(MAX_ATTEMPTS - 1):
        tampered = replace(trajectory(lease, "w"), steps=(), task=replace(lease.task, goal="something else"))
        assert world.host.deliver(encode(tampered)).status == "refused"
        assert world.host.leases.in_flight == 0
        again = world.host.lease("w", 1)[0]
        assert again.task == lease.task
        lease = again
    world.host.deliver(encode(replace(trajectory(lease, "w"), steps=())))
    assert world.host.lease("w", 1)[0].task != lease.task


def test_a_refused_trajectory_gives_back_nobody_else_s_lease(world: World) -> None:
    (lease,) = world.host.lease("w", 1)
    world.host.deliver(encode(replace(trajectory(lease, "a stranger"), steps=())))
    assert world.host.leases.in_flight == 1


def test_a_crash_between_store_and_replay_loses_and_doubles_nothing(world: World) -> None:
    """The process dies after the transaction and before the insertion: the receipt never goes out."""
    payload = world.play()

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    world.host.replay.insert = die  # type: ignore[method-assign, assignment]
    with pytest.raises(KeyboardInterrupt):
        world.host.deliver(payload)
    host = world.restart()
    assert len(host.replay) == 1
    assert host.deliver(payload).status == "duplicate"
    assert len(host.replay) == 1


def test_priorities_survive_a_restart_and_what_came_since_is_new(world: World) -> None:
    for _ in range(3):
        world.host.deliver(world.play())
    first = world.host.store.ids()[0]
    world.host.update_priorities([first], [0.25])
    state = world.host.replay_state()
    (world.host.store.folder / "replay.json").unlink()
    world.host.deliver(world.play())
    host = world.restart(state)
    restored = dict(zip(host.replay_state()["ids"], host.replay_state()["priorities"], strict=True))
    assert restored[first] == 0.25
    assert len(restored) == 4


def test_priorities_survive_a_host_that_is_killed_between_two_checkpoints(world: World) -> None:
    for _ in range(3):
        world.host.deliver(world.play())
    old = world.host.replay_state()
    first = world.host.store.ids()[0]
    world.now_s = 100.0
    world.host.update_priorities([first], [0.125])
    host = world.restart(old)
    state = host.replay_state()
    assert dict(zip(state["ids"], state["priorities"], strict=True))[first] == 0.125


def test_a_damaged_replay_index_falls_back_to_the_checkpoints(world: World) -> None:
    world.host.deliver(world.play())
    state = world.host.replay_state()
    (world.host.store.folder / "replay.json").write_text("{torn")
    assert len(world.restart(state).replay) == 1


def test_a_full_disk_keeps_the_trajectory_with_the_worker(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = world.play()

    def full(*_: Any) -> None:
        raise StorageFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(world.host.store, "add_all", full)
        assert world.host.deliver(payload).status == "later"
    assert world.host.deliver(payload).status == "inserted"


def test_of_several_deliveries_each_gets_its_own_receipt(world: World) -> None:
    first, second, invalid = world.play(), world.play(), world.play(outcome="invalid")
    payloads = [first, b"torn", second, first, invalid]
    statuses = [receipt.status for receipt in world.host.deliver_all(payloads)]
    assert statuses == ["inserted", "refused", "inserted", "duplicate", "invalid"]
    assert (world.host.store.counts().trajectories, world.host.store.counts().invalid) == (2, 1)
    assert len(world.host.replay) == 2


def test_several_deliveries_that_find_no_room_all_stay_with_the_worker(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    payloads = [world.play(), world.play()]
    insert, calls = run.insert_trajectory, []

    def fills_up(*arguments: Any) -> None:
        insert(*arguments)
        calls.append(arguments)
        if len(calls) == 2:
            raise StorageFull("no room")

    with monkeypatch.context() as patch:
        patch.setattr(run, "insert_trajectory", fills_up)
        assert [receipt.status for receipt in world.host.deliver_all(payloads)] == ["later", "later"]
    assert world.host.store.counts().trajectories == len(world.host.replay) == 0
    assert [receipt.status for receipt in world.host.deliver_all(payloads)] == ["inserted", "inserted"]


def test_little_free_disk_holds_the_workers_until_space_is_freed(tmp_path: Path) -> None:
    world = World(tmp_path, run={"minimum_free_mb": 100})
    world.free_mb = 50.0
    assert world.host.lease("w", 3) == []
    assert world.host.lease("w", 3) == []
    assert world.host.stats()["disk_full"] == 1.0
    world.free_mb = 500.0
    assert len(world.host.lease("w", 3)) == 3
    assert world.host.stats()["disk_full"] == 0.0
    kinds = [event.kind for event in world.host.store.events()]
    assert kinds.count("disk_full") == 1
    assert kinds.count("disk_freed") == 1
    world.host.close()


def test_numbers_given_to_workers_are_never_given_again(world: World) -> None:
    numbers = [world.host.join("a"), world.host.join("b"), world.host.join("a")]
    numbers.append(world.restart().join("a"))
    assert len(set(numbers)) == 4


def test_a_worker_that_starts_again_gives_back_what_it_was_playing(world: World) -> None:
    world.host.join("w")
    lease = world.host.lease("w", 1)[0]
    world.host.join("w")
    assert world.host.leases.in_flight == 0
    assert world.host.lease("w", 1)[0].task == lease.task


def test_a_silent_worker_loses_its_tasks_and_one_that_asks_for_weights_does_not(world: World) -> None:
    world.host.join("silent"), world.host.join("busy")
    world.host.lease("silent", 1), world.host.lease("busy", 1)
    world.now_s = world.config.runtime.wait_s - 1.0
    world.host.latest(0, "busy")
    world.now_s += 2.0
    world.host.stats()
    assert world.host.leases.in_flight == 1
    assert [e.detail for e in world.host.store.events() if e.kind == "worker_lost"] == ["silent: 1 tasks given back"]


def test_versions_only_go_up_over_restarts_too(world: World) -> None:
    world.host.publish(sealed(3))
    with pytest.raises(StaleVersion):
        world.host.publish(sealed(3))
    host = world.restart()
    assert host.version == 3
    assert host.latest(0) is None  # the arrays are gone; the learner publishes anew
    with pytest.raises(StaleVersion):
        host.publish(sealed(2))
    host.publish(sealed(4))
    newest = host.latest(3)
    assert newest is not None
    assert newest.version == 4


def test_a_host_that_started_again_takes_its_newest_version_once_more(world: World) -> None:
    world.host.publish(sealed(3))
    assert not world.host.draw(4).weights_missing
    host = world.restart()
    assert host.draw(4).weights_missing
    host.publish(sealed(3))
    assert not host.draw(4).weights_missing
    assert host.latest(2) is not None
    assert world.host.store.metrics("version").value.tolist() == [3]


def test_a_host_that_never_had_weights_misses_none(world: World) -> None:
    assert not world.restart().draw(4).weights_missing


def test_weights_that_were_published_change_no_more(world: World) -> None:
    weights = sealed(1)
    world.host.publish(weights)
    next(iter(weights.arrays.values()))[:] = 7.0
    kept = world.host.latest(0)
    assert isinstance(kept, VersionedWeights)
    assert kept.intact


def test_listeners_hear_of_every_version_until_they_are_lost(world: World) -> None:
    heard: list[int] = []
    world.host.subscribe("w", heard.append)
    world.host.publish(sealed(1)), world.host.publish(sealed(2))
    world.host.lose_worker("w")
    world.host.publish(sealed(3))
    assert heard == [1, 2]


def test_the_learner_gets_nothing_before_the_warm_up(world: World) -> None:
    for _ in range(world.config.replay.warmup):
        assert world.host.sample(4) is None
        world.host.deliver(world.play())
    sample = world.host.sample(4)
    assert sample is not None
    screens = world.host.screens([sample.trajectories[0].steps[0].screen.digest])
    assert screens[0].image


def test_max_reuse_makes_the_learner_wait_for_new_trajectories(tmp_path: Path) -> None:
    world = World(tmp_path, pacing={"max_reuse": 1.0})
    for _ in range(8):
        world.host.deliver(world.play())
    assert world.host.sample(4) is not None
    assert world.host.sample(4) is not None
    assert world.host.sample(4) is None
    world.host.close()


def test_max_lag_holds_workers_before_they_start_and_lets_them_go_on(tmp_path: Path) -> None:
    world = World(tmp_path, pacing={"max_lag": 1, "trajectories_per_version": 4.0})
    while leases := world.host.lease("w", 1):
        world.host.deliver(encode(trajectory(leases[0])))
    held_at = world.host.store.counts().trajectories
    assert held_at == world.config.replay.warmup + 8  # the warm-up, and two versions' worth
    world.host.publish(sealed(1))
    assert len(world.host.lease("w", 9)) == 4
    world.host.close()


def test_stats_count_what_was_delivered(world: World) -> None:
    payload = world.play()
    world.host.deliver(payload), world.host.deliver(payload)
    world.host.deliver(world.play(outcome="invalid"))
    stats = world.host.stats()
    assert (stats["produced"], stats["trajectories"], stats["invalid"], stats["duplicates"]) == (2, 1, 1, 1)


def test_health_is_kept_and_quarantined_devices_are_counted_until_their_worker_starts_again(world: World) -> None:
    world.host.health("w", Health(0, "toy://0#0", "quarantined", lost=1))
    world.host.health("w", Health(1, "toy://1#1", "playing", lost=1))
    assert world.host.stats()["quarantined"] == 1
    assert [entry.health.condition for entry in world.host.store.devices() if entry.health] == [
        "quarantined",
        "playing",
    ]
    world.host.join("w")
    assert world.host.stats()["quarantined"] == 0


def test_health_that_finds_no_room_is_let_go(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise StorageFull("no room")

    monkeypatch.setattr(world.host.store, "keep_health", full)
    world.host.health("w", Health(0, "toy://0#0", condition="quarantined"))
    assert world.host.stats()["quarantined"] == 1
    assert world.host.store.devices() == []
