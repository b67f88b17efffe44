"""Sends what the policy computed from screens ahead of their trajectory, so that the learner need not compute it again.

Best effort: nothing of it is on disk, and what does not arrive the learner computes from the image.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cachetools import LRUCache

from distrl.types import Features
from distrl.worker.host_client import TolerantHostClient

REMEMBERED = 50_000
"""Screens known to have been sent; a few megabytes."""


class FeatureUpload:
    """One per policy. A screen that many episodes show, a home screen say, is sent once."""

    def __init__(self, known_features: Callable[[Sequence[str]], Features], host: TolerantHostClient) -> None:
        self._known_features = known_features
        self._host = host
        self._sent: LRUCache[str, None] = LRUCache(REMEMBERED)

    async def send(self, digests: Sequence[str]) -> None:
        """Send the features of those screens that are new, as far as the policy still has them."""
        features = self._known_features([digest for digest in dict.fromkeys(digests) if digest not in self._sent])
        if features:
            self._sent.update(dict.fromkeys(features))
            await self._host.share(features)
