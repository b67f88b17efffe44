"""On a virtual clock: nothing here waits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from distrl.judges.vlm.circuit_breaker import CircuitBreaker
from distrl.runtime.clock import VirtualLoop, run_virtually


def virtually(story: Callable[[CircuitBreaker, VirtualLoop], Awaitable[None]], failures: int = 3) -> CircuitBreaker:
    async def main(loop: VirtualLoop) -> CircuitBreaker:
        breaker = CircuitBreaker(failures, 10.0, loop.time)
        await story(breaker, loop)
        return breaker

    return run_virtually(main)


def test_it_opens_after_failures_in_a_row_and_not_after_as_many_with_a_success_between():
    async def story(breaker, loop):
        for _ in range(2):
            breaker.failed()
            breaker.failed()
            assert breaker.state == "closed"
            breaker.succeeded()
        for _ in range(3):
            breaker.failed()
        assert breaker.state == "open"

    assert virtually(story).opened == 1


def test_while_it_is_open_requests_wait_and_then_one_probes():
    async def story(breaker, loop):
        for _ in range(3):
            breaker.failed()
        admitted: list[int] = []

        async def caller(number: int) -> None:
            await breaker.admit()
            admitted.append(number)

        callers = [asyncio.create_task(caller(number)) for number in range(4)]
        await asyncio.sleep(9.0)
        assert admitted == []
        await asyncio.sleep(50.0)
        assert len(admitted) == 1
        assert breaker.state == "half open"
        breaker.succeeded()
        await asyncio.gather(*callers)
        assert len(admitted) == 4
        assert breaker.state == "closed"

    virtually(story)


def test_a_trial_that_fails_opens_it_again_for_as_long():
    async def story(breaker, loop):
        for _ in range(3):
            breaker.failed()
        await breaker.admit()
        tried_at = loop.time()
        breaker.failed()
        assert breaker.state == "open"
        await breaker.admit()
        assert loop.time() - tried_at >= 10.0

    assert virtually(story).opened == 2


def test_a_trial_that_is_cancelled_lets_the_next_one_try():
    async def story(breaker, loop):
        for _ in range(3):
            breaker.failed()
        await breaker.admit()
        waiting = asyncio.create_task(breaker.admit())
        await asyncio.sleep(1.0)
        assert not waiting.done()
        breaker.abandoned()
        await waiting

    virtually(story)


def test_late_failures_of_requests_from_before_do_not_keep_it_open():
    async def story(breaker, loop):
        for _ in range(3):
            breaker.failed()
        await asyncio.sleep(9.0)
        breaker.failed()
        await breaker.admit()
        assert loop.time() < 11.0

    assert virtually(story).opened == 1
