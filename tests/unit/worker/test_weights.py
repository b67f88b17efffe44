"""How a worker takes new weights, beside what it plays."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

from toy import ToyJudge, ToyPolicy, toy_config

from distrl.runtime.clock import run_virtually
from distrl.runtime.evaluation import MemorySpool
from distrl.types import VersionedWeights
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.weights import WeightFollower
from distrl.worker.worker import Worker


class PolicyClient:
    version = 0

    def __init__(self) -> None:
        self.loaded: list[int] = []

    async def load(self, weights: VersionedWeights) -> None:
        await asyncio.sleep(0.01)
        self.loaded.append(weights.version)
        self.version = weights.version


class Shelf:
    """A host that has one newer version each time it is asked, as long as the asker is behind."""

    def __init__(self, newest: int) -> None:
        self.newest = newest

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        if newer_than >= self.newest:
            return None
        return VersionedWeights.seal(newer_than + 1, ToyPolicy().weights())


def worker(folder: Path, policy_client: Any, client: Any) -> Worker:
    async def no_device(slot: int) -> Any:
        raise AssertionError

    config = toy_config(folder, workers={"share_features": False})
    return Worker(
        "w",
        config,
        client=client,
        policy_client=policy_client,
        judge=ToyJudge(),
        open_device=no_device,
        spool=MemorySpool(),
        now=float,
    )


def test_two_who_refresh_at_once_take_one_version_after_the_other(tmp_path):
    async def story():
        policy_client = PolicyClient()
        player = worker(tmp_path, policy_client, Shelf(2))
        await asyncio.gather(*(player.weights.refresh() for _ in range(3)))
        return policy_client.loaded

    assert asyncio.run(story()) == [1, 2]


def test_the_checksum_is_computed_beside_the_loop_that_the_devices_live_in(tmp_path, monkeypatch):
    threads = []

    def noted(weights):
        threads.append(threading.current_thread())
        return True

    monkeypatch.setattr(VersionedWeights, "intact", property(noted))
    asyncio.run(worker(tmp_path, PolicyClient(), Shelf(1)).weights.refresh())
    assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


def test_news_of_a_version_is_followed_at_once_and_without_news_the_poll_finds_it():
    class Host(Shelf):
        asked_at: list[float] = []

        async def latest(self, newer_than: int) -> VersionedWeights | None:
            self.asked_at.append(round(asyncio.get_running_loop().time(), 1))
            return None

    async def story(loop: Any) -> list[float]:
        host = Host(0)
        follower = WeightFollower(PolicyClient(), TolerantHostClient("w", host))
        running = asyncio.ensure_future(follower.run())
        for moment in (0.3, 0.3):
            await asyncio.sleep(moment)
            follower.notify()
        await asyncio.sleep(1.5)
        running.cancel()
        return host.asked_at

    assert run_virtually(story) == [0.0, 0.3, 0.6, 1.6]
