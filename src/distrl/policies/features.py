"""Screenshot features by digest: computed once, the longest unused leaves first."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from torch import Tensor


class FeatureCache:
    """Filled by one thread; any thread may look into it meanwhile."""

    def __init__(self, capacity_mb: int) -> None:
        self._capacity_bytes = capacity_mb * 2**20
        self._bytes = 0
        self._features: OrderedDict[str, Tensor] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, digest: str) -> bool:
        return digest in self._features

    def __len__(self) -> int:
        return len(self._features)

    def get(self, digest: str) -> Tensor:
        """Raises KeyError for a screen that is not cached."""
        with self._lock:
            self._features.move_to_end(digest)
            return self._features[digest]

    def find(self, digest: str) -> Tensor | None:
        """Like `get`, for whoever only looks: it does not count as a use."""
        with self._lock:
            return self._features.get(digest)

    def hold(self, digests: Iterable[str]) -> None:
        """Those that are here are about to be used: what is put now must not push them out."""
        with self._lock:
            for digest in digests:
                if digest in self._features:
                    self._features.move_to_end(digest)

    def put(self, digest: str, features: Tensor) -> None:
        with self._lock:
            if digest in self._features:
                return
            self._features[digest] = features
            self._bytes += _size(features)
            while self._bytes > self._capacity_bytes and len(self._features) > 1:
                _, oldest = self._features.popitem(last=False)
                self._bytes -= _size(oldest)

    def forget(self, digests: Iterable[str]) -> None:
        with self._lock:
            for digest in set(digests) & self._features.keys():
                self._bytes -= _size(self._features.pop(digest))


def _size(features: Tensor) -> int:
    return features.numel() * features.element_size()
