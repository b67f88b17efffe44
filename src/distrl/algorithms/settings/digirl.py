"""Settings of DigiRL."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat

from distrl.config import AlgorithmConfig, UnitFloat


class DigiRLSettings(AlgorithmConfig):
    """Two critics choose which trajectories, and which of their steps, are imitated."""

    implementation: ClassVar[str] = "distrl.algorithms.digirl:DigiRL"

    name: Literal["digirl"] = "digirl"

    outcome_decay: UnitFloat = 0.95
    """How much less the outcome says of a step for each step between (lambda)."""

    instruction_filter: UnitFloat = 0.5
    """Only trajectories at or above this quantile of R − V_instruct in the sample are learned from. The authors
    filter a whole round of hundreds at 0.9; of a sample of eight that would leave one."""

    invalid_penalty: NonNegativeFloat = 0.2
    """Taken from the reward of a step whose text was no action (kappa); 0 switches it off."""

    value_weight: NonNegativeFloat = 0.5
    """Weight of the state value's cross-entropy in the loss."""

    trajectory_value_weight: NonNegativeFloat = 0.5
    """Weight of the trajectory value's cross-entropy in the loss."""
