"""Settings of what is learned from, how much of it, and how: replay, pacing, algorithm, learner."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveInt

from distrl.config.settings import PositiveFloat, Settings, UnitFloat


class ReplayConfig(Settings):
    """How trajectories wait for the learner, and which ones it sees."""

    capacity: PositiveInt = 2_000
    """Trajectories held; the oldest leaves first."""

    warmup: PositiveInt = 32
    """Trajectories that must be there before the learner starts."""

    priority_exponent: UnitFloat = 0.5
    """0 samples uniformly, 1 in proportion to priority (alpha in the paper)."""

    td_error_weight: NonNegativeFloat = 1.0
    """Weight of the mean absolute (Retrace) TD error in a trajectory's priority (w1)."""

    ratio_weight: NonNegativeFloat = 0.5
    """Weight of the mean importance ratio in a trajectory's priority (w2)."""

    entropy_weight: NonNegativeFloat = 0.1
    """Weight of the mean policy entropy in a trajectory's priority (w3)."""

    newcomers: Literal["first", "ranked"] = "first"
    """What has not been drawn yet. `first`: it has the highest priority, so that everything is soon looked at.
    `ranked`: the priority that follows from what its player recorded, so that a learner which sees a trajectory only
    once or twice chooses from the start."""

    failure_priority: UnitFloat = 1.0
    """How much a step that went worse than foreseen counts in a priority, against one that went better. Where failures
    do not move the policy (`algorithm.failure_weight` 0) they only teach the critic, and it needs fewer of them."""

    importance_exponent: UnitFloat = 0.4
    """Start of beta, which corrects for prioritised sampling; it is annealed to 1."""

    importance_anneal_steps: PositiveInt = 1_000
    """Learner steps over which beta reaches 1."""

    corrected: Literal["all", "critics"] = "all"
    """a_ride: whose losses are corrected for prioritised sampling. `critics`: they foresee what was played and not what
    was drawn, while the policy dwells on what surprised."""

    feature_cache_mb: PositiveInt = 512
    """Memory of the host for screenshot features that workers shared and the learner has not asked for yet; the
    oldest leave first, and the learner computes them from the screenshots."""


class PacingConfig(Settings):
    """How far playing may run ahead of learning."""

    max_lag: NonNegativeInt | None = None
    """Workers are held before they start an episode whose trajectory would be staler than this many
    versions when it is learned from. 0 is synchronous training; null never holds anybody."""

    trajectories_per_version: PositiveFloat = 4.0
    """How many new trajectories one learner step is expected to use up; turns a backlog into a lag."""

    max_reuse: PositiveFloat | None = None
    """The learner waits for new trajectories rather than see each one more often than this on average;
    None: it never waits."""


class AlgorithmConfig(Settings):
    """What the learner optimises. Letters in brackets are the paper's. Each setting says which algorithms read it; the
    others do not."""

    name: Literal["a_ride", "digirl", "filtered_bc", "grpo", "impala"] = "a_ride"
    """The algorithm: one file in `distrl/algorithms`. grpo needs `tasks.group_size` of 2 or more."""

    discount: UnitFloat = 0.9
    """a_ride, impala: how much a success is worth one step earlier (gamma)."""

    trace_decay: UnitFloat = 0.95
    """a_ride, impala: how far Retrace or V-trace looks ahead (lambda); 0 is one step, 1 is as far as the ratios allow.
    digirl: how much less the outcome says of a step for each step between."""

    ratio_clip: PositiveFloat = 1.5
    """a_ride: the importance ratio in the policy loss is truncated here (rho-bar)."""

    trust: PositiveFloat | None = None
    """a_ride: a step that is likelier by more than this since it was played (0.2: by a fifth) is not made likelier
    still; null: it is, as often as it is drawn. For few phones beside a fast learner, where `pacing.max_reuse` is in
    the dozens."""

    entropy_bonus: NonNegativeFloat = 0.003
    """a_ride, grpo, impala: weight of the policy's entropy in the loss (beta); 0 switches it off."""

    invalid_penalty: NonNegativeFloat = 0.2
    """a_ride, digirl, impala: taken from the reward of a step whose text was no action (kappa); 0 switches it off."""

    value_weight: NonNegativeFloat = 0.5
    """a_ride, digirl, impala: weight of the state value's cross-entropy in the loss."""

    trajectory_value_weight: NonNegativeFloat = 0.5
    """a_ride, digirl: weight of the trajectory value's cross-entropy in the loss."""

    trajectory_filter: UnitFloat = 0.0
    """a_ride: share of each sample left out because V_traj was least surprised by its outcome; 0 keeps all."""

    failure_weight: UnitFloat = 1.0
    """a_ride, grpo, impala: how much a negative advantage counts against a positive one. One wrong step fails an
    episode whose other steps were right; until the critic can tell them apart, less than 1 keeps what the policy can do
    already."""

    local_blame: bool = False
    """a_ride: a failure blames only the steps after which the critic saw the chance of success fall, and the last one;
    off, all of its steps."""

    retrace: bool = True
    """a_ride: off, the one-step advantage of the paper's first formula."""

    normalise_advantage: bool = True
    """a_ride: divide a batch's advantages by their standard deviation."""

    instruction_filter: UnitFloat = 0.5
    """digirl: only trajectories at or above this quantile of R − V_instruct in the sample are learned from. The authors
    filter a whole round of hundreds at 0.9; of a sample of eight that would leave one."""

    surrogate_clip: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.2
    """grpo: the ratio has no gradient beyond 1 ± this, in the direction of the advantage (epsilon)."""

    vtrace_ratio_clip: PositiveFloat = 1.0
    """impala: the importance ratio in V-trace's TD errors and in the policy loss is truncated here (rho-bar)."""

    vtrace_trace_clip: PositiveFloat = 1.0
    """impala: the ratio in V-trace's traces is truncated here (c-bar)."""


class LearnerConfig(Settings):
    """How the weights move."""

    learning_rate: PositiveFloat = 1e-4
    """AdamW's step size for the policy."""

    critic_learning_rate: PositiveFloat = 1e-3
    """AdamW's step size for the value heads."""

    weight_decay: NonNegativeFloat = 0.01
    """AdamW's weight decay."""

    rate_half_life_steps: PositiveInt | None = None
    """Learner steps after which the policy's step size has halved; null: it stays. Early steps gain most, late ones
    with little data mostly add noise."""

    max_grad_norm: PositiveFloat = 1.0
    """Gradients are scaled down to this norm."""

    trajectories_per_step: PositiveInt = 8
    """Trajectories sampled for one learner step."""

    micro_batch: PositiveInt = 32
    """Steps that go through the model at once; bounds memory, changes nothing else."""

    resident_steps: PositiveInt = 128
    """Steps whose activations may stay in memory until all targets are known; a larger sample goes through the
    model twice, first for the targets and then for the gradient. Bounds memory, changes nothing else."""

    critic_warmup_steps: NonNegativeInt = 20
    """First learner steps, in which only the value heads learn. A critic that has seen nothing says 1/2 everywhere;
    its advantages would teach a policy that mostly fails that all it does is wrong."""

    rate_warmup_steps: NonNegativeInt = 10
    """Learner steps after that, over which the policy's step size rises to its full size: AdamW's first steps are
    mostly noise."""

    average_steps: PositiveInt = 1
    """Weights that leave the learner, to be played with, tested and saved, are a running mean over about so many of its
    last steps; 1: those of the last step. Small samples make noisy steps, and a mean knows more than its last one."""

    publish_every: PositiveInt = 1
    """Learner steps between two published versions."""

    checkpoint_every_s: PositiveFloat = 120.0
    """Seconds between two checkpoints."""

    keep_checkpoints: PositiveInt = 2
    """Checkpoints kept; older ones are deleted once a newer one is complete."""

    max_bad_steps: PositiveInt = 5
    """Learner steps in a row without a finite loss and gradient before it rolls back to the last checkpoint."""

    canary_trajectories: NonNegativeInt = 4
    """First trajectories whose log-probabilities the learner recomputes; it stops on mismatch."""

    canary_tolerance: PositiveFloat = 0.02
    """Largest difference in log-probability per token that the canary lets pass."""

    device: str = "auto"
    """Torch device of the learner: `cpu`, `cuda`, or `auto`."""
