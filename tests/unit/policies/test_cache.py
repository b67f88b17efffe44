import pytest
import torch

from distrl.policies.cache import ScreenCache


def test_the_longest_unused_features_leave_first():
    cache = ScreenCache(capacity_mb=1)
    quarter = torch.zeros(2**16)  # 256 KiB
    for name in "abcd":
        cache.put(name, quarter.clone())
    cache.get("a")
    cache.put("e", quarter.clone())
    assert "b" not in cache
    assert all(name in cache for name in "acde")
    with pytest.raises(KeyError):
        cache.get("b")


def test_putting_twice_counts_once():
    cache = ScreenCache(capacity_mb=1)
    for _ in range(10):
        cache.put("a", torch.zeros(2**16))
    cache.put("b", torch.zeros(2**16))
    assert len(cache) == 2
