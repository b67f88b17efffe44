"""A host out of reach: what is waited for, and what is given up."""

from __future__ import annotations

from typing import Any

from distrl.errors import Unreachable
from distrl.runtime.clock import run_virtually
from distrl.types import Lease, Receipt
from distrl.worker.host_client import TolerantHostClient


class Flaky:
    """Fails so many times, then answers."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        async def ask(*arguments: Any) -> Any:
            self.asked.append(name)
            if self.failures:
                self.failures -= 1
                raise Unreachable("host", name, 1.0)
            return {"join": 7, "lease": [Lease("1", None, 0.0)], "deliver": [Receipt("inserted")]}.get(name)  # type: ignore[arg-type]

        return ask


def test_what_a_worker_cannot_go_on_without_is_asked_until_the_host_answers():
    host = Flaky(2)

    async def story(loop: Any) -> Any:
        client = TolerantHostClient("w", host)
        joined, after_s = await client.join(), loop.time()
        host.failures = 5
        (receipt,) = await client.deliver([b""])
        return joined, receipt.status, after_s, host.asked

    joined, status, after_s, asked = run_virtually(story)
    assert (joined, status) == (7, "inserted")
    assert round(after_s, 2) == 0.3
    assert asked == ["join"] * 3 + ["deliver"] * 6


def test_the_rest_is_asked_once_and_raises_nothing():
    host = Flaky(1_000)

    async def story(loop: Any) -> Any:
        client = TolerantHostClient("w", host)
        await client.give_back(["1"])
        await client.event("kind", "detail")
        await client.health(None)  # type: ignore[arg-type]
        await client.share({})
        return await client.latest(3), round(loop.time(), 2)

    assert run_virtually(story) == (None, 0.0)
    assert host.asked == ["give_back", "report", "health", "share", "latest"]
