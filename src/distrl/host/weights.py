"""The newest weights, and the promise that versions only ever go up."""

from __future__ import annotations

from distrl.errors import CorruptData, StaleVersion
from distrl.types import VersionedWeights, checksum

__all__ = ["NewestWeights", "checksum", "seal", "verify"]

seal = VersionedWeights.seal


def verify(weights: VersionedWeights) -> VersionedWeights:
    """The same weights. Raises `CorruptData` when they are not those that were sealed."""
    if not weights.intact:
        raise CorruptData(f"Weights of version {weights.version} do not have the checksum they were sealed with.")
    return weights


class NewestWeights:
    """Holds one version: the newest. `highest` outlives a restart, the arrays do not."""

    def __init__(self, highest: int) -> None:
        self.highest = highest
        self._newest: VersionedWeights | None = None

    def check(self, weights: VersionedWeights, *, verified: bool = False) -> None:
        """Raises `StaleVersion` or `CorruptData` for weights that may not be put here."""
        if weights.version <= self.highest:
            raise StaleVersion(weights.version, self.highest)
        if not verified:
            verify(weights)

    def put(self, weights: VersionedWeights) -> None:
        """Weights that have passed `check`: half a gigabyte is not read twice while everybody waits for the host."""
        self.highest = weights.version
        self._newest = weights

    def latest(self, newer_than: int) -> VersionedWeights | None:
        newest = self._newest
        return newest if newest is not None and newest.version > newer_than else None
