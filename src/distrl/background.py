"""Work that must not get in the way of devices: in threads that take only what processor time the others leave."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")

NICENESS = 10
"""A tenth of what a thread of ordinary priority gets where both want the same core."""


def give_way() -> None:
    """Lower the priority of this thread, where the system has priorities for threads (Linux)."""
    if hasattr(os, "setpriority"):
        with suppress(OSError):
            me = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, me, max(NICENESS, os.getpriority(os.PRIO_PROCESS, me)))


def threads(count: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=count, thread_name_prefix="background", initializer=give_way)


_shared = threads(2)


async def in_background(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises; the event loop goes on meanwhile, and so do its devices."""
    return await asyncio.get_running_loop().run_in_executor(_shared, work)
