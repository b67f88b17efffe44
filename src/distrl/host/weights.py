"""Which version is the newest, and the promise that versions only ever go up."""

from __future__ import annotations

from typing import Protocol

from distrl.errors import StaleVersion


class Published(Protocol):
    """Weights as the host keeps them: it never looks at the arrays. In one process they are the weights themselves, on
    Ray a reference to shared memory; who reads them compares the checksum."""

    @property
    def version(self) -> int: ...


class NewestWeights:
    """Holds one version: the newest. `highest` outlives a restart, the weights do not."""

    def __init__(self, highest: int) -> None:
        self.highest = highest
        self._newest: Published | None = None

    @property
    def missing(self) -> bool:
        """A version was published, and its weights went with the process that held them."""
        return self._newest is None and self.highest > 0

    def check(self, version: int) -> None:
        """Raises `StaleVersion`. A version whose weights are missing may come again."""
        if version < self.highest or (version == self.highest and not self.missing):
            raise StaleVersion(version, self.highest)

    def put(self, weights: Published) -> None:
        """Weights whose version has passed `check`."""
        self.highest = weights.version
        self._newest = weights

    def latest(self, newer_than: int) -> Published | None:
        newest = self._newest
        return newest if newest is not None and newest.version > newer_than else None
