"""How long an endpoint asks to be left alone."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


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
