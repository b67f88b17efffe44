from __future__ import annotations

import random

from distrl.backoff import Backoff
from distrl.runtime.clock import run_virtually


def test_waits_double_up_to_a_cap_and_none_is_like_the_other():
    backoff = Backoff(1.0, 8.0, random.Random(0))
    for retry, whole in [(1, 1.0), (2, 2.0), (3, 4.0), (4, 8.0), (5, 8.0), (500, 8.0)]:
        waits = [backoff.delay_s(retry) for _ in range(50)]
        assert all(whole / 2 <= wait <= whole for wait in waits)
        assert len(set(waits)) == 50


def test_what_the_endpoint_asks_for_is_waited_for_at_least():
    backoff = Backoff(1.0, 8.0, random.Random(0))
    waits = [backoff.delay_s(1, at_least_s=100.0) for _ in range(50)]
    assert all(100.0 <= wait <= 110.0 for wait in waits)
    assert len(set(waits)) == 50


def test_without_jitter_each_wait_is_twice_the_last_up_to_the_cap():
    async def waits(loop):
        backoff, ended = Backoff(0.1, 1.0), [loop.time()]
        for _ in range(6):
            await backoff.wait()
            ended.append(loop.time())
        return [round(b - a, 3) for a, b in zip(ended, ended[1:], strict=False)]

    assert run_virtually(waits) == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
