"""Settings of A-RIDE."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat

from distrl.config import AlgorithmConfig, PositiveFloat, UnitFloat


class ARideSettings(AlgorithmConfig):
    """Asynchronous and off-policy: Retrace targets, truncated ratios, prioritised replay."""

    implementation: ClassVar[str] = "distrl.algorithms.a_ride:ARide"

    name: Literal["a_ride"] = "a_ride"

    discount: UnitFloat = 0.9
    """How much a success is worth one step earlier (gamma)."""

    trace_decay: UnitFloat = 0.95
    """How far Retrace looks ahead (lambda); 0 is one step, 1 is as far as the ratios allow."""

    ratio_clip: PositiveFloat = 1.5
    """The importance ratio in the policy loss is truncated here (rho-bar)."""

    trust: PositiveFloat | None = None
    """A step that is likelier by more than this since it was played (0.2: by a fifth) is not made likelier still; null:
    it is, as often as it is drawn. For few phones beside a fast learner, where `pacing.max_reuse` is in the dozens."""

    entropy_bonus: NonNegativeFloat = 0.003
    """Weight of the policy's entropy in the loss (beta); 0 switches it off."""

    invalid_penalty: NonNegativeFloat = 0.2
    """Taken from the reward of a step whose text was no action (kappa); 0 switches it off."""

    value_weight: NonNegativeFloat = 0.5
    """Weight of the state value's cross-entropy in the loss."""

    trajectory_value_weight: NonNegativeFloat = 0.5
    """Weight of the trajectory value's cross-entropy in the loss."""

    trajectory_filter: UnitFloat = 0.0
    """Share of each sample left out because V_traj was least surprised by its outcome; 0 keeps all."""

    failure_weight: UnitFloat = 1.0
    """How much a negative advantage counts against a positive one. One wrong step fails an episode whose other steps
    were right; until a critic can tell them apart, less than 1 keeps what the policy can do already."""

    local_blame: bool = False
    """A failure blames only the steps after which the critic saw the chance of success fall, and the last one; off,
    all of its steps."""

    retrace: bool = True
    """Off, the one-step advantage of the paper's first formula."""

    normalise_advantage: bool = True
    """Divide a batch's advantages by their standard deviation."""

    priority_td_error_weight: NonNegativeFloat = 1.0
    """Weight of the mean absolute (Retrace) TD error in a trajectory's priority (w1)."""

    priority_ratio_weight: NonNegativeFloat = 0.5
    """Weight of the mean importance ratio in a trajectory's priority (w2)."""

    priority_entropy_weight: NonNegativeFloat = 0.1
    """Weight of the mean policy entropy in a trajectory's priority (w3)."""

    priority_failure_weight: UnitFloat = 1.0
    """How much a step that went worse than expected counts in a priority, against one that went better. Where
    failures do not move the policy (`failure_weight` 0) they only teach the critic, and it needs fewer of them."""

    corrected: Literal["all", "critics"] = "all"
    """Whose losses are corrected for prioritised sampling. `critics`: they estimate what was played and not what was
    drawn, while the policy learns most from what was unexpected."""
