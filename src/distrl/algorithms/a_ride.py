"""A-RIDE: asynchronous, off-policy, with Retrace targets, truncated ratios and true entropy.

    L = −E[w·min(ρ, ρ̄)·A·log π(a|s)] − β·E[H] + c_V·BCE(V, V_ret) + c_traj·BCE(V_traj, outcome)

Choices the formula leaves open:
- V(s) is trained towards V_ret clipped into [0, 1], with soft labels: the discounted chance of success, which is what
  the TD errors and advantages below take V to be. At discount 1 it is Pr(return-to-go > 0) itself.
- The advantage keeps its sign and size. Dividing by the batch's standard deviation moves neither its zero nor its sign.
- With `trust`, a step that became likelier by more than that since it was played is not pushed further (PPO's clip, for
  what went well). Without, a success is imitated as often as it is drawn.
- V_traj's filter leaves the trajectories whose outcome V_traj foresaw at the first step out of the policy loss only.
  The critics still see them: a critic that saw only surprises would be wrong about everything ordinary.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from distrl.algorithms import diagnostics, losses, priorities, returns
from distrl.algorithms.base import Algorithm, Batch, Estimates, Plan, Targets, Tensor
from distrl.algorithms.settings.a_ride import ARideSettings

ADVANTAGE_FLOOR = 0.3
"""Advantages are never divided by less than this: in a batch of predicted outcomes they are noise, which must not be
scaled up to the size of a real advantage in other batches."""


@dataclass(frozen=True)
class ARide(Algorithm):
    settings: ARideSettings

    @torch.no_grad()
    def plan(self, batch: Batch, estimates: Estimates) -> Plan:
        settings = self.settings
        padded = estimates.padded(batch)
        value = padded.value_logit.sigmoid() * batch.mask  # padding has logit 0, which is no value of anything
        reward = returns.rewards(batch.outcome, batch.terminal, batch.invalid, invalid_penalty=settings.invalid_penalty)
        discount = settings.discount * (batch.mask & ~batch.terminal)
        td_error = returns.td_errors(reward, discount, value, returns.following(value))

        log_rho = (padded.logprob - batch.behaviour_logprob) * batch.mask
        ratio = losses.truncated_ratio(log_rho, ratio_clip=settings.ratio_clip)
        target, advantage = self.credit(reward, discount, value, log_rho)
        if settings.local_blame:
            advantage = losses.blame_locally(advantage, td_error)

        forecast = padded.trajectory_value_logit[:, 0].sigmoid()
        kept = ~priorities.least_surprising((batch.outcome - forecast).abs(), settings.trajectory_filter)
        learned = batch.mask & batch.spread(kept)
        scale = self.advantage_scale(advantage[learned])

        pull = losses.weigh_failures(advantage, failure_weight=settings.failure_weight) / scale
        pull = losses.within_trust(pull, log_rho, trust=settings.trust)
        importance = batch.spread(batch.importance) if settings.corrected == "all" else 1.0
        policy_weight = importance * ratio * pull * learned / learned.sum()
        metrics = {
            **diagnostics.describe(
                batch, padded, learned=learned, advantage=advantage, clipped=log_rho > math.log(settings.ratio_clip)
            ),
            **diagnostics.calibrate(batch, value, td_error),
            **diagnostics.calibrate_forecast(batch, forecast),
        }
        targets = Targets.of(batch, policy_weight, target)
        surprise = losses.weigh_failures(target - value, failure_weight=settings.priority_failure_weight)
        return Plan(targets, self.priorities(batch, surprise, ratio, padded.entropy), metrics)

    def losses(self, targets: Targets, estimates: Estimates) -> dict[str, Tensor]:
        settings = self.settings
        value = losses.value_loss(estimates.value_logit, targets.value, targets.step_weight)
        forecast = losses.value_loss(estimates.trajectory_value_logit, targets.outcome, targets.step_weight)
        return {
            "policy": losses.policy_loss(estimates.logprob, targets.policy_weight),
            "entropy": settings.entropy_bonus * losses.entropy_loss(estimates.entropy, targets.step_weight),
            "value": settings.value_weight * value,
            "trajectory_value": settings.trajectory_value_weight * forecast,
        }

    def credit(self, reward: Tensor, discount: Tensor, value: Tensor, log_rho: Tensor) -> tuple[Tensor, Tensor]:
        """(target of V, advantage). Without Retrace: the return as played, and the paper's one-step advantage."""
        following = returns.following(value)
        if not self.settings.retrace:
            target = returns.discounted_returns(reward, discount)
            return target, returns.td_errors(reward, discount, value, following)
        target = returns.retrace_batch(
            reward, discount, value, following, log_rho, trace_decay=self.settings.trace_decay
        )
        return target, returns.td_errors(reward, discount, value, returns.following(target))

    def advantage_scale(self, advantages: Tensor) -> float:
        if not self.settings.normalise_advantage:
            return 1.0
        return max(advantages.std(unbiased=False).item(), ADVANTAGE_FLOOR)

    def priorities(self, batch: Batch, surprise: Tensor, ratio: Tensor, entropy: Tensor) -> Tensor:
        """DPER with truncated ratios: untruncated, one old action could own the whole buffer. The TD error is
        Retrace's, V_ret − V: a success that nobody foresaw is one at each of its steps, however many they are."""
        settings = self.settings
        return priorities.dper(
            surprise,
            ratio,
            entropy,
            batch.mask,
            td_error_weight=settings.priority_td_error_weight,
            ratio_weight=settings.priority_ratio_weight,
            entropy_weight=settings.priority_entropy_weight,
        )
