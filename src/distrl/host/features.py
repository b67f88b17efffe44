"""Cache of screenshot features, from their upload by a worker until the learner fetches them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import numpy as np
from cachetools import FIFOCache

from distrl.types import Features, Floats


class FeatureCache:
    """Holds features in memory until they are fetched, once; beyond its capacity the oldest are evicted."""

    def __init__(self, capacity_mb: int) -> None:
        self._features: FIFOCache[str, Floats] = FIFOCache(capacity_mb * 2**20, lambda array: array.nbytes)

    def __len__(self) -> int:
        return len(self._features)

    def put(self, features: Features) -> None:
        for digest, array in features.items():
            with contextlib.suppress(ValueError):  # larger than the capacity: the learner computes it from the image
                # A copy: an array in shared memory would keep its whole message alive.
                self._features[digest] = np.array(array)

    def take(self, digests: Iterable[str]) -> dict[str, Floats]:
        """Return and remove those that are cached: the learner has a cache of its own."""
        found = {digest: self._features.pop(digest, None) for digest in digests}
        return {digest: array for digest, array in found.items() if array is not None}
