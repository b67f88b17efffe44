from __future__ import annotations

from datetime import UTC, datetime

import pytest

from distrl.judges.vlm.retry_after import retry_after_s

NOW = datetime(2030, 1, 1, 12, 0, 0, tzinfo=UTC)


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
