"""Settings of what is learned from, how much of it, and how: replay, pacing, algorithm, learner."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveInt

from distrl.choices import Choice
from distrl.config.settings import PositiveFloat, Settings, UnitFloat
from distrl.registry import ALGORITHMS


class ReplayConfig(Settings):
    """How trajectories wait for the learner, and which ones it sees."""

    capacity: PositiveInt = 2_000
    """Trajectories held; the oldest leaves first."""

    warmup: PositiveInt = 32
    """Trajectories that must be there before the learner starts."""

    priority_exponent: UnitFloat = 0.5
    """0 samples uniformly, 1 in proportion to priority (alpha in the paper)."""

    newcomers: Literal["first", "ranked"] = "first"
    """What has not been drawn yet. `first`: it has the highest priority, so that everything is soon looked at.
    `ranked`: the priority that follows from what its player recorded, so that a learner which sees a trajectory only
    once or twice chooses from the start."""

    importance_exponent: UnitFloat = 0.4
    """Start of beta, which corrects for prioritised sampling; it is annealed to 1."""

    importance_anneal_steps: PositiveInt = 1_000
    """Learner steps over which beta reaches 1."""

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
    """What the learner optimises, and how trajectories are ranked for it. Each algorithm has settings of its own,
    listed below under its name; a key of another one is an error. Letters in brackets are the paper's."""

    name: str
    """The algorithm. Its mathematics is one file in `distrl/algorithms`, its settings one in
    `distrl/algorithms/settings`."""

    implementation: ClassVar[str]
    """The class of the algorithm, which is made with these settings."""
    least_group_size: ClassVar[int] = 1
    """Smallest `tasks.group_size` with which it can learn."""


ALGORITHM = Choice(ALGORITHMS, key="name", default="a_ride")


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
