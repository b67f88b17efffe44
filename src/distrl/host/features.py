"""Screenshot features on their way from a worker to the learner."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable

import numpy as np

from distrl.types import Features, Floats


class FeatureCache:
    """Holds them in memory until they are asked for, once; beyond its capacity the oldest leave."""

    def __init__(self, capacity_mb: int) -> None:
        self._capacity_bytes = capacity_mb * 2**20
        self._bytes = 0
        self._features: OrderedDict[str, Floats] = OrderedDict()

    def __len__(self) -> int:
        return len(self._features)

    def put(self, features: Features) -> None:
        for digest, array in features.items():
            self._remove(digest)
            # A copy: what came through shared memory would keep all of its message there.
            self._features[digest] = np.array(array)
            self._bytes += array.nbytes
        while self._bytes > self._capacity_bytes:
            self._remove(next(iter(self._features)))

    def take(self, digests: Iterable[str]) -> dict[str, Floats]:
        """Those that are here. They leave: the learner has a cache of its own."""
        found = {digest: self._remove(digest) for digest in digests}
        return {digest: array for digest, array in found.items() if array is not None}

    def _remove(self, digest: str) -> Floats | None:
        array = self._features.pop(digest, None)
        self._bytes -= 0 if array is None else array.nbytes
        return array
