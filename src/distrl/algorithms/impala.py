"""IMPALA: actor-critic with V-trace, the off-policy correction that asynchronous learners used before Retrace on V.

    A_t = r_t + γ·v(s_{t+1}) − V(s_t),   v = V-trace targets
    L = −E[min(ρ, ρ̄)·A·log π(a|s)] − β·E[H] + c_V·BCE(V, v)

Side by side with A-RIDE, which differs in four things: Retrace in place of V-trace, prioritised replay in place of
uniform, V_traj beside V, and advantages brought to one size batch by batch.
- V(s) is a chance here too, so that its loss is cross-entropy to v clipped into [0, 1] and not a squared error.
- ρ̄ and c̄ are 1 as published, whatever A-RIDE's `ratio_clip` is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from distrl.algorithms import diagnostics, losses, priorities, returns
from distrl.algorithms.base import Algorithm, Batch, Estimates, Plan, Targets, Tensor
from distrl.algorithms.settings.impala import ImpalaSettings


@dataclass(frozen=True)
class Impala(Algorithm):
    settings: ImpalaSettings

    @torch.no_grad()
    def plan(self, batch: Batch, estimates: Estimates) -> Plan:
        settings = self.settings
        padded = estimates.padded(batch)
        value = padded.value_logit.sigmoid() * batch.mask  # padding has logit 0, which is no value of anything
        reward = returns.rewards(batch.outcome, batch.terminal, batch.invalid, invalid_penalty=settings.invalid_penalty)
        discount = settings.discount * (batch.mask & ~batch.terminal)
        td_error = returns.td_errors(reward, discount, value, returns.following(value))
        log_rho = (padded.logprob - batch.behaviour_logprob) * batch.mask

        target = returns.vtrace_batch(
            reward,
            discount,
            value,
            returns.following(value),
            log_rho,
            trace_decay=settings.trace_decay,
            ratio_clip=settings.vtrace_ratio_clip,
            trace_clip=settings.vtrace_trace_clip,
        )
        advantage = returns.td_errors(reward, discount, value, returns.following(target))
        ratio = losses.truncated_ratio(log_rho, ratio_clip=settings.vtrace_ratio_clip)
        pull = losses.weigh_failures(advantage, failure_weight=settings.failure_weight)
        policy_weight = batch.spread(batch.importance) * ratio * pull * batch.mask / batch.steps

        clipped = log_rho > math.log(settings.vtrace_ratio_clip)
        metrics = {
            **diagnostics.describe(batch, padded, learned=batch.mask, advantage=advantage, clipped=clipped),
            **diagnostics.calibrate(batch, value, td_error),
        }
        return Plan(Targets.of(batch, policy_weight, target), priorities.uniform(batch.count), metrics)

    def losses(self, targets: Targets, estimates: Estimates) -> dict[str, Tensor]:
        value = losses.value_loss(estimates.value_logit, targets.value, targets.step_weight)
        return {
            "policy": losses.policy_loss(estimates.logprob, targets.policy_weight),
            "entropy": self.settings.entropy_bonus * losses.entropy_loss(estimates.entropy, targets.step_weight),
            "value": self.settings.value_weight * value,
        }
