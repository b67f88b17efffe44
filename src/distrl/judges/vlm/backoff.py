"""Exponential backoff between retries of a request."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_S, LONGEST_S = 0.5, 30.0
SPREAD = 0.1
"""Extra jitter on `Retry-After`, so that clients given the same time do not all retry at once."""


class Backoff:
    """Doubles up to a cap, with jitter; never shorter than the endpoint's `Retry-After`."""

    def __init__(self, rng: random.Random, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> None:
        self._rng = rng
        self._first_s = first_s
        self._longest_s = longest_s

    def delay_s(self, retry: int, retry_after_s: float = 0.0) -> float:
        """Before the first retry (`retry` is 1), the second, and so on."""
        ours = min(self._longest_s, self._first_s * 2.0 ** min(retry - 1, 60)) * self._rng.uniform(0.5, 1.0)
        return max(ours, retry_after_s * self._rng.uniform(1.0, 1.0 + SPREAD))


def retry_after_s(header: str, now: datetime) -> float:
    """The seconds that a `Retry-After` header asks for, as a number or as a date; 0 for none and for nonsense."""
    header = header.strip()
    if header.isdecimal():
        return float(header[:9])
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError, OverflowError):
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())
