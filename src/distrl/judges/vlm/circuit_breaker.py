"""A circuit breaker: an endpoint that fails again and again is left alone for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal


class CircuitBreaker:
    """Closed: everybody may ask. Open: nobody may. Half open: one asks, and the others wait for what comes of it."""

    def __init__(self, failures: int, open_s: float, now: Callable[[], float]) -> None:
        self._limit = failures
        self._open_s = open_s
        self._now = now
        self._in_a_row = 0
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
        """Returns as soon as this caller may ask. It then says how that went: `succeeded`, `failed` or `abandoned`."""
        while not self._enter():
            await self._wait_for_change()

    def succeeded(self) -> None:
        self._in_a_row, self._open_until, self._probing = 0, None, False
        self._tell()

    def failed(self) -> None:
        self._in_a_row += 1
        if self._probing or (self._open_until is None and self._in_a_row >= self._limit):
            self._open_until, self._probing = self._now() + self._open_s, False
            self.opened += 1
            self._tell()

    def abandoned(self) -> None:
        """The caller was cancelled before it knew. Somebody else may try."""
        self._probing = False
        self._tell()

    def _enter(self) -> bool:
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
            return  # the while is over: one of those who wait tries now

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
