"""Mathematics only, one file per algorithm. A new algorithm is a file here and a line in `ALGORITHMS`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from distrl.algorithms.a_ride import ARide
from distrl.algorithms.base import Algorithm, Batch, Estimates, Plan, Targets
from distrl.algorithms.digirl import DigiRL
from distrl.algorithms.filtered_bc import FilteredBC
from distrl.algorithms.grpo import GRPO
from distrl.algorithms.impala import Impala
from distrl.errors import UnknownName

__all__ = ["ALGORITHMS", "Algorithm", "Batch", "Estimates", "Plan", "Targets", "build"]

ALGORITHMS: dict[str, type[Any]] = {
    "a_ride": ARide,
    "digirl": DigiRL,
    "filtered_bc": FilteredBC,
    "grpo": GRPO,
    "impala": Impala,
}


def build(name: str, settings: Mapping[str, Any]) -> Algorithm:
    """The algorithm of this name; of the settings it takes those that its class names."""
    if name not in ALGORITHMS:
        raise UnknownName("algorithm", name, ALGORITHMS)
    algorithm = ALGORITHMS[name]
    built: Algorithm = algorithm(**{field.name: settings[field.name] for field in fields(algorithm)})
    return built
