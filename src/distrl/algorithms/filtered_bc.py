"""Filtered behaviour cloning: imitate what succeeded.

    L = −E[log π(a|s)]  over the steps of trajectories whose reward is in the top tenth and positive

- The reward is 0 or 1, so that the top tenth, ties included, is every success as soon as one trajectory in ten is one;
  where fewer are, it is still the successes alone, for the reward must be positive. The filter is the outcome.
- No critic, no ratio: a step played by an old policy teaches as much as one played by the present one.
- The learner does not even score failures.
- Replay is uniform.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from distrl.algorithms import diagnostics, losses, priorities
from distrl.algorithms.base import Algorithm, Batch, Estimates, Plan, Targets, Tensor
from distrl.algorithms.settings.filtered_bc import FilteredBCSettings

TOP_TENTH = 0.9


@dataclass(frozen=True)
class FilteredBC(Algorithm):
    settings: FilteredBCSettings

    uses_critic: ClassVar[bool] = False

    def worth_scoring(self, batch: Batch) -> Tensor:
        return priorities.top(batch.outcome, TOP_TENTH) & (batch.outcome > 0)

    @torch.no_grad()
    def plan(self, batch: Batch, estimates: Estimates) -> Plan:
        learned = batch.mask & batch.spread(self.worth_scoring(batch))
        policy_weight = batch.spread(batch.importance) * learned / learned.sum().clamp(min=1)
        metrics = diagnostics.describe(batch, estimates.padded(batch), learned=learned)
        return Plan(Targets.of(batch, policy_weight), priorities.uniform(batch.count), metrics)

    def losses(self, targets: Targets, estimates: Estimates) -> dict[str, Tensor]:
        return {"policy": losses.policy_loss(estimates.logprob, targets.policy_weight)}
