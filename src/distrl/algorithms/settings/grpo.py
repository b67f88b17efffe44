"""Settings of GRPO."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, NonNegativeFloat

from distrl.config import AlgorithmConfig, UnitFloat


class GRPOSettings(AlgorithmConfig):
    """Compares the trajectories of one task, without a critic; needs `tasks.group_size` of 2 or more."""

    implementation: ClassVar[str] = "distrl.algorithms.grpo:GRPO"
    least_group_size: ClassVar[int] = 2

    name: Literal["grpo"] = "grpo"

    surrogate_clip: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.2
    """The ratio has no gradient beyond 1 ± this, in the direction of the advantage (epsilon)."""

    entropy_bonus: NonNegativeFloat = 0.003
    """Weight of the policy's entropy in the loss (beta); 0 switches it off."""

    failure_weight: UnitFloat = 1.0
    """How much a negative advantage counts against a positive one. One wrong step fails an episode whose other steps
    were right; until a critic can tell them apart, less than 1 keeps what the policy can do already."""
