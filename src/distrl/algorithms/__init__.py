"""Mathematics only, one file per algorithm, and its settings in one under `settings`; importing this imports no torch.

A new algorithm is those two files and a line in `distrl/registry.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distrl.config import AlgorithmConfig
from distrl.registry import locate

if TYPE_CHECKING:
    from distrl.algorithms.base import Algorithm


def build(settings: AlgorithmConfig) -> Algorithm:
    """The algorithm that these settings are for."""
    built: Algorithm = implementation(type(settings))(settings)
    return built


def implementation(settings: type[AlgorithmConfig]) -> type[Any]:
    """The class that is made with such settings; imports its mathematics."""
    found: type[Any] = locate(settings.implementation)
    return found
