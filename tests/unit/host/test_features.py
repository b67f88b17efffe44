from __future__ import annotations

import numpy as np

from distrl.host.features import FeatureCache
from distrl.types import Floats

HALF_MB = 2**17
"""Floats of 4 bytes."""


def array(value: float) -> Floats:
    return np.full((1, HALF_MB), value, np.float32)


def test_features_are_given_out_once() -> None:
    cache = FeatureCache(capacity_mb=2)
    cache.put({"a": array(1), "b": array(2)})
    taken = cache.take(["a", "unknown"])
    assert list(taken) == ["a"]
    np.testing.assert_array_equal(taken["a"], array(1))
    assert cache.take(["a"]) == {}
    assert len(cache) == 1


def test_beyond_its_capacity_the_oldest_leave() -> None:
    cache = FeatureCache(capacity_mb=1)
    for name in ("a", "b", "a", "c"):
        cache.put({name: array(0)})
    assert list(cache.take(["a", "b", "c"])) == ["a", "c"]
    cache.put({name: array(0) for name in ("d", "e")})  # what was taken makes room
    assert len(cache) == 2


def test_what_is_larger_than_everything_is_left_out_and_the_rest_stays() -> None:
    cache = FeatureCache(capacity_mb=1)
    cache.put({"a": array(1)})
    cache.put({"b": np.zeros((3, HALF_MB), np.float32)})
    assert list(cache.take(["a", "b"])) == ["a"]


def test_what_is_kept_does_not_hang_on_to_the_message_it_came_in() -> None:
    cache = FeatureCache(capacity_mb=1)
    message = np.zeros((2, 8), np.float32)
    cache.put({"a": message[:1]})
    kept = cache.take(["a"])["a"]
    assert kept.base is None
