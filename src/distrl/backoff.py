"""How long to wait before the next attempt of something that failed."""

from __future__ import annotations

import asyncio
import random

FIRST_S, LONGEST_S = 0.1, 10.0
SPREAD = 0.1
"""Callers that are told the same time come back over a tenth of it, not all at once."""


class Backoff:
    """Delays that double up to a cap; with `rng` they have jitter."""

    def __init__(
        self, first_s: float = FIRST_S, longest_s: float = LONGEST_S, rng: random.Random | None = None
    ) -> None:
        self._first_s = first_s
        self._longest_s = longest_s
        self._rng = rng
        self._retries = 0

    def delay_s(self, retry: int, at_least_s: float = 0.0) -> float:
        """Before the first retry (`retry` is 1), the second, and so on."""
        delay_s = min(self._longest_s, self._first_s * 2.0 ** min(retry - 1, 60))
        if self._rng is None:
            return max(delay_s, at_least_s)
        return max(delay_s * self._rng.uniform(0.5, 1.0), at_least_s * self._rng.uniform(1.0, 1.0 + SPREAD))

    async def wait(self) -> None:
        """Sleep before the next retry; the one after it waits longer."""
        self._retries += 1
        await asyncio.sleep(self.delay_s(self._retries))
