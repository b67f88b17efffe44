from __future__ import annotations

import asyncio
import os
import sys
import threading

import pytest

from distrl.background import NICENESS, in_background


def niceness() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_work_aside_runs_in_another_thread_and_its_errors_come_back() -> None:
    async def main() -> tuple[str, str]:
        with pytest.raises(ZeroDivisionError):
            await in_background(lambda: 1 / 0)
        return threading.current_thread().name, await in_background(lambda: threading.current_thread().name)

    here, there = asyncio.run(main())
    assert here != there


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own only there")
def test_only_the_thread_aside_gives_way() -> None:
    before = niceness()
    assert asyncio.run(aside_niceness()) == max(before, NICENESS)
    assert niceness() == before


async def aside_niceness() -> int:
    return await in_background(niceness)
