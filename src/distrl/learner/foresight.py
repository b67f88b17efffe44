"""The priority of a trajectory that the learner has not seen yet, from what its player wrote down while playing.

A player records each action's log-probability and entropy and the critic's value, all under its own weights. That is
all a plan needs: it comes out as if the learner had drawn the trajectory in the moment it was played, with ratios of 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from distrl.algorithms.base import Estimates
from distrl.config import Config
from distrl.learner import batching
from distrl.learner.learner import algorithm_of
from distrl.replay.base import Sample
from distrl.types import Trajectory

SURE = 1e-4
"""Values are kept this far from 0 and 1, where a logit has no end."""


def ranking(config: Config) -> Callable[[Trajectory], float] | None:
    """What gives newcomers their priority, or None where they go first."""
    if config.replay.newcomers == "first":
        return None
    algorithm = algorithm_of(config)

    def priority(trajectory: Trajectory) -> float:
        plan = algorithm.plan(batching.lay_out(alone(trajectory)), recorded(trajectory))
        return float(plan.priorities[0])

    return priority


def alone(trajectory: Trajectory) -> Sample:
    """A sample of this trajectory and nothing beside it."""
    one, none = np.ones(1), np.zeros(1)
    return Sample((trajectory.id,), (trajectory,), one, one, one * trajectory.reward, none)


def recorded(trajectory: Trajectory) -> Estimates:
    """What its player's own weights said of each step. Of V_traj nothing is recorded: even odds."""
    decisions = [step.decision for step in trajectory.steps]
    return Estimates(
        logprob=torch.tensor([decision.logprob for decision in decisions]),
        entropy=torch.tensor([decision.entropy for decision in decisions]),
        value_logit=torch.logit(torch.tensor([decision.value for decision in decisions]), eps=SURE),
        trajectory_value_logit=torch.zeros(len(decisions)),
    )
