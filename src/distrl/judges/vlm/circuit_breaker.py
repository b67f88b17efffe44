"""A circuit breaker: after repeated failures no requests are sent to an endpoint for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal


class CircuitBreaker:
    """Closed: requests pass. Open: none pass. Half open: one request probes, the others wait for its result."""

    def __init__(self, failures: int, open_s: float, now: Callable[[], float]) -> None:
        self._limit = failures
        self._open_s = open_s
        self._now = now
        self._consecutive_failures = 0
        self._open_until: float | None = None
        self._probing = False
        self._changed = asyncio.Event()
        self.opened = 0
        """How often it has opened."""

    @property
    def state(self) -> Literal["closed", "open", "half open"]:
        if self._open_until is None:
            return "closed"
        return "half open" if self._probing or self._now() >= self._open_until else "open"

    async def admit(self) -> None:
        """Returns as soon as this caller may send its request. It then reports `succeeded`, `failed` or `abandoned`."""
        while not self._try_admit():
            await self._wait_for_change()

    def succeeded(self) -> None:
        self._consecutive_failures, self._open_until, self._probing = 0, None, False
        self._notify_waiters()

    def failed(self) -> None:
        self._consecutive_failures += 1
        if self._probing or (self._open_until is None and self._consecutive_failures >= self._limit):
            self._open_until, self._probing = self._now() + self._open_s, False
            self.opened += 1
            self._notify_waiters()

    def abandoned(self) -> None:
        """The caller was cancelled before there was a result. Another caller may probe."""
        self._probing = False
        self._notify_waiters()

    def _try_admit(self) -> bool:
        if self._open_until is None:
            return True
        if self._probing or self._now() < self._open_until:
            return False
        self._probing = True
        return True

    async def _wait_for_change(self) -> None:
        assert self._open_until is not None
        changed = self._changed
        try:
            async with asyncio.timeout(None if self._probing else self._open_until - self._now()):
                await changed.wait()
        except TimeoutError:
            return  # the open time is over: one of the waiting callers probes now

    def _notify_waiters(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
