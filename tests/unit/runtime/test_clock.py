from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from distrl.runtime.clock import TICK_S, VirtualLoop, run_virtually


def test_an_hour_passes_at_once() -> None:
    async def main(loop: VirtualLoop) -> float:
        await asyncio.sleep(3600.0)
        return loop.time()

    before = time.monotonic()
    assert run_virtually(main) == pytest.approx(3600.0, abs=0.1)
    assert time.monotonic() - before < 60.0


def test_timers_fire_in_the_order_of_their_times() -> None:
    async def main(loop: VirtualLoop) -> list[int]:
        order: list[int] = []

        async def note(number: int) -> None:
            await asyncio.sleep(number)
            order.append(number)

        await asyncio.gather(*(note(number) for number in (5, 1, 3)))
        return order

    assert run_virtually(main) == [1, 3, 5]


def test_deadlines_count_virtual_time() -> None:
    async def main(loop: VirtualLoop) -> None:
        async with asyncio.timeout(10.0):
            await asyncio.sleep(20.0)

    with pytest.raises(TimeoutError):
        run_virtually(main)


def test_computation_takes_the_time_it_is_charged() -> None:
    async def main(loop: VirtualLoop) -> float:
        loop.charge(2.5)
        return loop.time()

    assert run_virtually(main, start_s=10.0) == pytest.approx(12.5, abs=10 * TICK_S)


def test_a_task_that_never_sleeps_does_not_stop_the_clock() -> None:
    async def main(loop: VirtualLoop) -> float:
        async def spin() -> None:
            while True:
                await asyncio.sleep(0)

        started_at = loop.time()
        spinning = asyncio.ensure_future(spin())
        await asyncio.sleep(0.05)
        spinning.cancel()
        return loop.time() - started_at

    assert run_virtually(main) >= 0.05


def test_what_goes_to_an_executor_runs_in_this_thread() -> None:
    async def main(loop: VirtualLoop) -> Any:
        import threading

        return await asyncio.to_thread(threading.get_ident)

    import threading

    assert run_virtually(main) == threading.get_ident()


def test_a_deadlock_is_an_error_and_not_a_hang() -> None:
    async def main(loop: VirtualLoop) -> None:
        await asyncio.Event().wait()

    with pytest.raises(RuntimeError, match="waits for something"):
        run_virtually(main)
