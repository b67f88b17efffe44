from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from toy import toy_task

from distrl.errors import Unreachable
from distrl.runtime.clock import run_virtually
from distrl.types import Lease
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.lease_client import LeaseClient


class Counter:
    """A host that answers each question with what it is told: a number of leases, None, or an error."""

    def __init__(self, *answers: int | Exception | None) -> None:
        self.answers = list(answers)
        self.asked: list[int] = []
        self.asked_at: list[float] = []
        self.given_back: list[str] = []
        self.refreshed = 0
        self.issued = 0

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        self.asked.append(count)
        self.asked_at.append(asyncio.get_running_loop().time())
        answer = self.answers.pop(0) if self.answers else count
        await asyncio.sleep(0.001)
        if isinstance(answer, Exception):
            raise answer
        if answer is None:
            return None
        self.issued += answer
        return [Lease(f"{n}", toy_task(n), 1e9) for n in range(self.issued - answer, self.issued)]

    async def give_back(self, lease_ids: Any) -> None:
        self.given_back += lease_ids

    async def refresh(self) -> None:
        self.refreshed += 1


def leasing(host: Counter, scene: Callable[[LeaseClient], Coroutine[Any, Any, Any]], full: Any = lambda: False) -> Any:
    async def main(loop: Any) -> Any:
        client = LeaseClient(TolerantHostClient("w", host), full=full, refresh=host.refresh)  # type: ignore[arg-type]
        try:
            return await scene(client)
        finally:
            await client.close()

    return run_virtually(main)


def together(count: int) -> Callable[[LeaseClient], Coroutine[Any, Any, Any]]:
    async def scene(client: LeaseClient) -> Any:
        return await asyncio.gather(*(client.lease() for _ in range(count)))

    return scene


def test_all_slots_that_are_free_ask_in_one_question():
    host = Counter()
    leases = leasing(host, together(256))
    assert host.asked == [256]
    assert len({lease.id for lease in leases}) == 256


def test_who_came_first_is_served_first_when_there_is_too_little_for_all():
    host = Counter(2, 0, 1, 0, 5)
    assert [lease.id for lease in leasing(host, together(4))] == ["0", "1", "2", "3"]
    assert host.asked == [4, 2, 2, 1, 1]


def test_what_comes_in_excess_is_given_back():
    host = Counter(3)
    leasing(host, together(2))
    assert host.given_back == ["2"]


def test_nobody_takes_new_weights_who_was_not_held_and_who_was_held_takes_them_before_playing():
    free, held = Counter(), Counter(0, 0)
    leasing(free, together(2))
    leasing(held, together(2))
    assert (free.refreshed, held.refreshed) == (0, 1)


def test_the_longer_the_host_holds_a_worker_the_less_it_is_asked():
    host = Counter(*[0] * 400)
    leasing(host, together(8))
    waits = [b - a for a, b in zip(host.asked_at, host.asked_at[1:], strict=False)]
    assert waits[0] < 0.02
    assert max(waits) > 0.4
    for waited, wait in zip(host.asked_at, waits, strict=False):
        assert wait <= max(0.03, 0.03 * (waited - host.asked_at[0])), (waited, wait)


def test_a_host_out_of_reach_is_asked_again_and_the_end_of_tasks_reaches_all():
    host = Counter(Unreachable("host", "lease", 1.0), 1, None)
    leases = leasing(host, together(3))
    assert [lease and lease.id for lease in leases] == ["0", None, None]


def test_an_error_of_the_client_reaches_every_slot_that_waits():
    async def scene(client: LeaseClient) -> Any:
        return await asyncio.gather(client.lease(), client.lease(), return_exceptions=True)

    errors = leasing(Counter(ValueError("torn")), scene)
    assert [str(error) for error in errors] == ["torn", "torn"]


@pytest.mark.parametrize("moment", [0.0, 0.0005, 0.001, 0.0011, 0.0012, 0.002])
def test_a_lease_whose_slot_is_cancelled_is_played_or_given_back(moment):
    async def scene(client: LeaseClient) -> Any:
        slots = [asyncio.ensure_future(client.lease()) for _ in range(2)]
        await asyncio.sleep(moment)
        slots[0].cancel()
        await asyncio.sleep(0.01)
        return [slot.result().id for slot in slots if not slot.cancelled()]

    host = Counter()
    played = leasing(host, scene)
    assert len(played) + len(host.given_back) == host.issued


def test_nothing_is_asked_while_the_spool_is_full():
    room = iter([True, True, False])
    host = Counter()
    leasing(host, together(1), full=lambda: next(room))
    assert host.asked == [1]
