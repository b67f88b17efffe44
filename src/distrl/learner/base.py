"""What a learner needs of the outside beside its samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from distrl.types import Features, Screen


class ScreenSource(Protocol):
    """Where screens come from that a sample only refers to."""

    def features(self, digests: Sequence[str]) -> Features:
        """What workers made of these screens, as far as it is known here; asked again, it may be forgotten."""

    def screens(self, digests: Sequence[str]) -> list[Screen]:
        """All of them, with their images."""
