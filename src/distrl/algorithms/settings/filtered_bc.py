"""Settings of filtered behaviour cloning."""

from __future__ import annotations

from typing import ClassVar, Literal

from distrl.config import AlgorithmConfig


class FilteredBCSettings(AlgorithmConfig):
    """Imitates what succeeded; there is nothing to set."""

    implementation: ClassVar[str] = "distrl.algorithms.filtered_bc:FilteredBC"

    name: Literal["filtered_bc"] = "filtered_bc"
