"""Leases tasks for all devices of a worker: one question to the host for all that are free, first come first served.

A host that holds its workers back is then asked once per worker and not once per device, however many devices wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from distrl.types import Lease
from distrl.worker.host_client import TolerantHostClient

HELD_SHARE = 0.02
"""A worker that got no lease asks again after this share of the time that it has been held: it loses no more than that,
and the longer it is held the less it asks."""
HELD_LEAST_S, HELD_MOST_S = 0.01, 0.5

Answer = asyncio.Future[Lease | None]


class LeaseClient:
    """Owned by the worker. Asks only while a device waits, and never twice at the same time."""

    def __init__(
        self, host: TolerantHostClient, *, full: Callable[[], bool], refresh: Callable[[], Awaitable[None]]
    ) -> None:
        """`full`: no episode should start now. `refresh`: load the newest weights; called after the host has held this
        worker, because what it waited for is mostly a new version."""
        self._host = host
        self._full = full
        self._refresh = refresh
        self._queue: list[Answer] = []
        self._task: asyncio.Task[None] | None = None
        self.over = asyncio.Event()
        """Set when there will never be another task, also for devices that do not ask."""

    async def lease(self) -> Lease | None:
        """The next task; None when there will never be another one."""
        answer: Answer = asyncio.get_running_loop().create_future()
        self._queue.append(answer)
        if self._task is None:
            self._task = asyncio.create_task(self._serve())
        try:
            return await answer
        except asyncio.CancelledError:
            await self._return_unused(answer)
            raise

    async def close(self) -> None:
        """Ask no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(0)  # lets every device that is free now into the first question
            await self._ask_until_served()
        except Exception as error:  # every device that waits must hear of it; none may hang
            for answer in self._waiting():
                answer.set_exception(error)
        finally:
            self._task = None

    async def _ask_until_served(self) -> None:
        now = asyncio.get_running_loop().time
        held_since = None
        while waiting := self._waiting():
            leases = [] if self._full() else await self._host.lease(len(waiting))
            if leases is not None and not leases:
                held_since = now() if held_since is None else held_since
                await asyncio.sleep(min(HELD_MOST_S, max(HELD_LEAST_S, HELD_SHARE * (now() - held_since))))
                continue
            if held_since is not None:
                held_since = None
                await self._refresh()
            await self._hand_out(leases)

    async def _hand_out(self, leases: list[Lease] | None) -> None:
        if leases is None:
            self.over.set()
        for answer in self._waiting():
            if leases is None:
                answer.set_result(None)
            elif leases:
                answer.set_result(leases.pop(0))
        if leases:  # whoever asked for these has been cancelled since
            await self._host.give_back([lease.id for lease in leases])

    def _waiting(self) -> list[Answer]:
        self._queue = [answer for answer in self._queue if not answer.done()]
        return self._queue

    async def _return_unused(self, answer: Answer) -> None:
        """A device that is cancelled in the very moment in which it was served cannot play."""
        if answer.done() and not answer.cancelled() and answer.exception() is None and (lease := answer.result()):
            await self._host.give_back([lease.id])
