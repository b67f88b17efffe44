"""GRPO: a trajectory is as good as it did better than the others of its task; no critic.

    A(τ) = (R − mean R of the group) / std R of the group, the same at every step of τ
    L = −E[min(ρ·A, clip(ρ, 1−ε, 1+ε)·A)] − β·E[H]

- A group is all that replay holds of one task. The host hands each task out `tasks.group_size` times in a row, and
  nobody waits for a group to be complete: a trajectory is compared with what is known when it is sampled, and again
  with more when it is sampled later. Alone, or where all ended alike, it teaches nothing and is not even scored.
- ρ is the ratio of a whole action, its tokens' log-probabilities summed, since the action is what the phone sees. It
  varies more than a token's, so that ε binds earlier than it would token by token.
- Every step weighs the same: long trajectories are not made light by division through their length.
- Where A < 0 a ratio above `DUAL_CLIP` gives no gradient; PPO's minimum alone would not bound it.
- No penalty on the distance to a reference policy. Replay is uniform.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from distrl.algorithms import diagnostics, losses, priorities, returns
from distrl.algorithms.base import Algorithm, Batch, Estimates, Plan, Targets, Tensor
from distrl.algorithms.settings.grpo import GRPOSettings

DUAL_CLIP = 3.0


@dataclass(frozen=True)
class GRPO(Algorithm):
    settings: GRPOSettings

    uses_critic: ClassVar[bool] = False

    def worth_scoring(self, batch: Batch) -> Tensor:
        return batch.group_std > 0

    @torch.no_grad()
    def plan(self, batch: Batch, estimates: Estimates) -> Plan:
        padded = estimates.padded(batch)
        relative = returns.group_relative(batch.outcome, batch.group_mean, batch.group_std)
        advantage = batch.spread(losses.weigh_failures(relative, failure_weight=self.settings.failure_weight))
        learned = batch.mask & (advantage != 0)
        policy_weight = batch.spread(batch.importance) * advantage * learned / learned.sum().clamp(min=1)

        log_rho = padded.logprob - batch.behaviour_logprob
        clipped = losses.outside_clip(log_rho, policy_weight, clip=self.settings.surrogate_clip, dual_clip=DUAL_CLIP)
        metrics = diagnostics.describe(batch, padded, learned=learned, advantage=advantage, clipped=clipped)
        return Plan(Targets.of(batch, policy_weight), priorities.uniform(batch.count), metrics)

    def losses(self, targets: Targets, estimates: Estimates) -> dict[str, Tensor]:
        policy = losses.clipped_surrogate(
            estimates.logprob,
            targets.behaviour_logprob,
            targets.policy_weight,
            clip=self.settings.surrogate_clip,
            dual_clip=DUAL_CLIP,
        )
        entropy = losses.entropy_loss(estimates.entropy, targets.step_weight)
        return {"policy": policy, "entropy": self.settings.entropy_bonus * entropy}
