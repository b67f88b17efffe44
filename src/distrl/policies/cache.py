"""LRU cache of screen features or pixels, by digest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from torch import Tensor


class ScreenCache:
    """Filled by one thread; any thread may read it."""

    def __init__(self, capacity_mb: int) -> None:
        self._capacity_bytes = capacity_mb * 2**20
        self._bytes = 0
        self._kept: OrderedDict[str, Tensor] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, digest: str) -> bool:
        return digest in self._kept

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, digest: str) -> Tensor:
        """Raises KeyError for a screen that is not cached."""
        with self._lock:
            self._kept.move_to_end(digest)
            return self._kept[digest]

    def peek(self, digest: str) -> Tensor | None:
        """Like `get`, but does not count as a use."""
        with self._lock:
            return self._kept.get(digest)

    def touch(self, digests: Iterable[str]) -> None:
        """Mark these as just used, so that the next `put` does not evict them."""
        with self._lock:
            for digest in digests:
                if digest in self._kept:
                    self._kept.move_to_end(digest)

    def put(self, digest: str, kept: Tensor) -> None:
        with self._lock:
            if digest in self._kept:
                return
            self._kept[digest] = kept
            self._bytes += _size(kept)
            while self._bytes > self._capacity_bytes and len(self._kept) > 1:
                _, oldest = self._kept.popitem(last=False)
                self._bytes -= _size(oldest)

    def forget(self, digests: Iterable[str]) -> None:
        with self._lock:
            for digest in set(digests) & self._kept.keys():
                self._bytes -= _size(self._kept.pop(digest))


def _size(kept: Tensor) -> int:
    return kept.numel() * kept.element_size()
