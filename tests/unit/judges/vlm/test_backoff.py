from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from distrl.judges.vlm.backoff import Backoff, retry_after_s

NOW = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)


def test_waits_double_up_to_a_cap_and_none_is_like_the_other():
    backoff = Backoff(random.Random(0), first_s=1.0, longest_s=8.0)
    for retry, whole in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 8.0), (500, 8.0)]:
        waits = [backoff.delay_s(retry) for _ in range(50)]
        assert all(whole / 2 <= wait <= whole for wait in waits)
        assert len(set(waits)) == 50


def test_what_the_endpoint_asks_for_is_waited_for_at_least():
    backoff = Backoff(random.Random(0), first_s=1.0, longest_s=8.0)
    waits = [backoff.delay_s(1, retry_after_s=100.0) for _ in range(50)]
    assert all(100.0 <= wait <= 110.0 for wait in waits)
    assert len(set(waits)) == 50


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0), (" 7 ", 7.0), ("0", 0.0), ("Tue, 01 Jan 2030 12:01:30 GMT", 90.0),
        ("Tue, 01 Jan 2030 11:00:00 GMT", 0.0),
        ("", 0.0), ("soon", 0.0), ("-5", 0.0), ("1e9", 0.0), ("nan", 0.0), ("9" * 400, 999999999.0), ("²", 0.0),
        ("Tue, 99 Jan 2030 12:01:30 GMT", 0.0), ("Tue, 01 Jan 99999 12:01:30 GMT", 0.0),
    ],
)  # fmt: skip
def test_retry_after_is_a_number_or_a_date_and_nonsense_is_nothing(header, seconds):
    assert retry_after_s(header, NOW) == seconds
