"""Screenshot features on their way from a worker to the learner."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

import numpy as np
from cachetools import FIFOCache

from distrl.types import Features, Floats


class FeatureCache:
    """Holds them in memory until they are asked for, once; beyond its capacity the oldest leave."""

    def __init__(self, capacity_mb: int) -> None:
        self._features: FIFOCache[str, Floats] = FIFOCache(capacity_mb * 2**20, lambda array: array.nbytes)

    def __len__(self) -> int:
        return len(self._features)

    def put(self, features: Features) -> None:
        for digest, array in features.items():
            with contextlib.suppress(ValueError):  # larger than the capacity: the learner computes it from the image
                # A copy: what came through shared memory would keep all of its message there.
                self._features[digest] = np.array(array)

    def take(self, digests: Iterable[str]) -> dict[str, Floats]:
        """Those that are here. They leave: the learner has a cache of its own."""
        found = {digest: self._features.pop(digest, None) for digest in digests}
        return {digest: array for digest, array in found.items() if array is not None}
