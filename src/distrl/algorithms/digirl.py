"""DigiRL: two critics choose what is worth imitating; the update is a hard filter and no policy gradient.

    A_instruct = R − V_instruct(goal)                                            which trajectories
    A_step     = λ^{H−h}·R + (1 − λ^{H−h}·R)·(V_step(s_{h+1}) + r_h − V_step(s_h))    which of their steps
    L = −E[log π(a|s)]  over the steps with A_step > 1/H of the trajectories with the highest A_instruct
        + c_V·BCE(V_step, R) + c_traj·BCE(V_instruct, R)

What the page leaves open:
- V_instruct is V_traj at the first step. It sees the first screen beside the goal, which can only make it better.
- The quantile of A_instruct is taken over the sample. The authors take it over a whole round of hundreds and then draw
  full batches from the tenth that is left; a tenth of a sample of eight would be one trajectory. `instruction_filter`
  therefore has a default that leaves DigiRL enough to learn from, and 0.9 is the authors' figure.
- H in λ^{H−h} is the terminal step; H in 1/H is the number of steps the task allowed (an episode of one step would
  never be learned from otherwise).
- Both critics learn from all trajectories, with the outcome as played, undiscounted.
- No ratio: on the asynchronous feed this is the paper's "DigiRL async". Replay is uniform.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from distrl.algorithms import diagnostics, losses, priorities, returns
from distrl.algorithms.base import Algorithm, Batch, Estimates, Plan, Targets, Tensor
from distrl.algorithms.settings.digirl import DigiRLSettings


@dataclass(frozen=True)
class DigiRL(Algorithm):
    settings: DigiRLSettings

    @torch.no_grad()
    def plan(self, batch: Batch, estimates: Estimates) -> Plan:
        settings = self.settings
        padded = estimates.padded(batch)
        value = padded.value_logit.sigmoid() * batch.mask  # padding has logit 0, which is no value of anything
        reward = returns.rewards(batch.outcome, batch.terminal, batch.invalid, invalid_penalty=settings.invalid_penalty)
        ongoing = (batch.mask & ~batch.terminal).float()
        td_error = returns.td_errors(reward, ongoing, value, returns.following(value))
        advantage = returns.doubly_robust(batch.outcome, td_error, batch.mask, trace_decay=settings.outcome_decay)

        forecast = padded.trajectory_value_logit[:, 0].sigmoid()
        kept = batch.spread(priorities.top(batch.outcome - forecast, settings.instruction_filter))
        learned = batch.mask & kept & (advantage > batch.spread(1.0 / batch.horizon))

        policy_weight = batch.spread(batch.importance) * learned / learned.sum().clamp(min=1)
        metrics = {
            **diagnostics.describe(batch, padded, learned=learned),
            **diagnostics.distribution("advantage", advantage[batch.mask & kept]),
            **diagnostics.calibrate(batch, value, td_error),
            **diagnostics.calibrate_forecast(batch, forecast),
        }
        return Plan(Targets.of(batch, policy_weight), priorities.uniform(batch.count), metrics)

    def losses(self, targets: Targets, estimates: Estimates) -> dict[str, Tensor]:
        value = losses.value_loss(estimates.value_logit, targets.value, targets.step_weight)
        forecast = losses.value_loss(estimates.trajectory_value_logit, targets.outcome, targets.step_weight)
        return {
            "policy": losses.policy_loss(estimates.logprob, targets.policy_weight),
            "value": self.settings.value_weight * value,
            "trajectory_value": self.settings.trajectory_value_weight * forecast,
        }
