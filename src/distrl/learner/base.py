"""Where the learner gets screens and their features from: the host."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distrl.types import Features, Screen


class ScreenSource(Protocol):
    """Resolves the screen references of a sample. Implemented by the host and its clients."""

    def features(self, digests: Sequence[str]) -> Features:
        """Features that workers uploaded for these screens, where there are any. The host drops what it returns."""

    def screens(self, digests: Sequence[str]) -> list[Screen]:
        """All of these screens, with their images."""
