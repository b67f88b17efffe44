"""Settings of IMPALA."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat

from distrl.config import AlgorithmConfig, PositiveFloat, UnitFloat


class ImpalaSettings(AlgorithmConfig):
    """Actor-critic with V-trace; replay is uniform."""

    implementation: ClassVar[str] = "distrl.algorithms.impala:Impala"

    name: Literal["impala"] = "impala"

    discount: UnitFloat = 0.9
    """How much a success is worth one step earlier (gamma)."""

    trace_decay: UnitFloat = 0.95
    """How far V-trace looks ahead (lambda); 0 is one step, 1 is as far as the ratios allow."""

    vtrace_ratio_clip: PositiveFloat = 1.0
    """The importance ratio in V-trace's TD errors and in the policy loss is truncated here (rho-bar)."""

    vtrace_trace_clip: PositiveFloat = 1.0
    """The ratio in V-trace's traces is truncated here (c-bar)."""

    entropy_bonus: NonNegativeFloat = 0.003
    """Weight of the policy's entropy in the loss (beta); 0 switches it off."""

    invalid_penalty: NonNegativeFloat = 0.2
    """Taken from the reward of a step whose text was no action (kappa); 0 switches it off."""

    value_weight: NonNegativeFloat = 0.5
    """Weight of the state value's cross-entropy in the loss."""

    failure_weight: UnitFloat = 1.0
    """How much a negative advantage counts against a positive one. One wrong step fails an episode whose other steps
    were right; until a critic can tell them apart, less than 1 keeps what the policy can do already."""
