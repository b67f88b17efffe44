"""Initial replay priority of a trajectory that was never sampled, computed from what the worker recorded.

A worker records each action's log-probability, entropy and critic value under the weights it played with. The
algorithm's priority needs no more: it is the one that the learner would compute under those weights, where every
importance ratio is 1.
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

VALUE_MARGIN = 1e-4
"""Values are clamped this far from 0 and 1, where the logit is infinite."""


def build(config: Config) -> Callable[[Trajectory], float] | None:
    """The function that gives a new trajectory its priority; None: new trajectories get the highest so far."""
    if config.replay.newcomers == "first":
        return None
    algorithm = algorithm_of(config)

    def priority(trajectory: Trajectory) -> float:
        plan = algorithm.plan(batching.padded_batch(single_sample(trajectory)), recorded_estimates(trajectory))
        return float(plan.priorities[0])

    return priority


def single_sample(trajectory: Trajectory) -> Sample:
    """A sample that holds this trajectory only."""
    one, none = np.ones(1), np.zeros(1)
    return Sample((trajectory.id,), (trajectory,), one, one, one * trajectory.reward, none)


def recorded_estimates(trajectory: Trajectory) -> Estimates:
    """Estimates as recorded by the worker. V_traj is not recorded and is taken to be 1/2."""
    decisions = [step.decision for step in trajectory.steps]
    return Estimates(
        logprob=torch.tensor([decision.logprob for decision in decisions]),
        entropy=torch.tensor([decision.entropy for decision in decisions]),
        value_logit=torch.logit(torch.tensor([decision.value for decision in decisions]), eps=VALUE_MARGIN),
        trajectory_value_logit=torch.zeros(len(decisions)),
    )
