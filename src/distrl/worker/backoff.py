"""Waiting longer each time something fails."""

from __future__ import annotations

import asyncio

FIRST_S = 0.1
LONGEST_S = 10.0


class Backoff:
    """Back-off that doubles up to a cap."""

    def __init__(self, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._next_s = first_s

    async def wait(self) -> None:
        await asyncio.sleep(self._next_s)
        self._next_s = min(2 * self._next_s, self._longest_s)

    def reset(self) -> None:
        self._next_s = self._first_s
