"""Screenshot features by digest: computed once, the longest unused leaves first."""

from __future__ import annotations

from collections import OrderedDict

from torch import Tensor


class FeatureCache:
    def __init__(self, capacity_mb: int) -> None:
        self._capacity_bytes = capacity_mb * 2**20
        self._bytes = 0
        self._features: OrderedDict[str, Tensor] = OrderedDict()

    def __contains__(self, digest: str) -> bool:
        return digest in self._features

    def __len__(self) -> int:
        return len(self._features)

    def get(self, digest: str) -> Tensor:
        """Raises KeyError for a screen that is not cached."""
        self._features.move_to_end(digest)
        return self._features[digest]

    def put(self, digest: str, features: Tensor) -> None:
        if digest in self._features:
            return
        self._features[digest] = features
        self._bytes += _size(features)
        while self._bytes > self._capacity_bytes and len(self._features) > 1:
            _, oldest = self._features.popitem(last=False)
            self._bytes -= _size(oldest)


def _size(features: Tensor) -> int:
    return features.numel() * features.element_size()
