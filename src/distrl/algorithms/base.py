"""What an algorithm is to the learner: a plan made without gradient, then losses that follow the plan.

The split exists because Retrace needs values and ratios of whole trajectories before the weight of any single step is
known. The plan sees the whole batch at once; the losses are sums over steps, so that a learner may compute them in
pieces of any size and the gradient comes out the same. Plan and losses see the same weights: one plan, one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Protocol

import torch

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True)
class Batch:
    """Whole trajectories as they were played, padded at the end. Shape [N, T] unless it says [N]."""

    mask: Tensor
    """True where there is a step, False where there is padding."""
    terminal: Tensor
    """True at the last step of each trajectory: the one that carries the outcome."""
    invalid: Tensor
    """True where the text was no action."""
    behaviour_logprob: Tensor
    """log μ(a|s), recorded by whoever played."""
    outcome: Tensor
    """[N]: 1 for success, 0 for failure."""
    importance: Tensor
    """[N]: corrects for prioritised sampling; 1 everywhere when sampling was uniform."""
    horizon: Tensor
    """[N]: how many steps the task allowed."""
    group_mean: Tensor
    """[N]: mean outcome of all that replay holds of this trajectory's task, itself included."""
    group_std: Tensor
    """[N]: standard deviation of the same outcomes; 0 while the trajectory is alone or all ended alike."""

    @property
    def count(self) -> int:
        """How many trajectories there are."""
        return len(self.mask)

    @property
    def steps(self) -> Tensor:
        """How many steps there are in all."""
        return self.mask.sum()

    def spread(self, per_trajectory: Tensor) -> Tensor:
        """[N] → [N, T]: the same number at every step of a trajectory."""
        return per_trajectory.unsqueeze(1).expand(self.mask.shape)

    def pad(self, per_step: Tensor) -> Tensor:
        """[S] → [N, T]: steps in the order of their trajectories, zeros in the padding."""
        padded = per_step.new_zeros(self.mask.shape)
        padded[self.mask] = per_step
        return padded

    def to(self, device: torch.device) -> Batch:
        return Batch(*(getattr(self, field.name).to(device) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Estimates:
    """What the present policy and critic say about steps. Four tensors of one shape: [S], or [N, T] when padded."""

    logprob: Tensor
    entropy: Tensor
    value_logit: Tensor
    trajectory_value_logit: Tensor

    def each(self) -> tuple[Tensor, ...]:
        return tuple(getattr(self, field.name) for field in fields(self))

    def padded(self, batch: Batch) -> Estimates:
        """[S] → [N, T], without gradient."""
        return Estimates(*(batch.pad(tensor.detach().float()) for tensor in self.each()))

    def part(self, chosen: slice) -> Estimates:
        return Estimates(*(tensor[chosen] for tensor in self.each()))

    def detached(self) -> Estimates:
        return Estimates(*(tensor.detach() for tensor in self.each()))

    @staticmethod
    def none(steps: int, device: torch.device) -> Estimates:
        """What is said of steps that nobody has scored yet: zeros."""
        return Estimates(*(torch.zeros(steps, device=device) for _ in fields(Estimates)))

    @staticmethod
    def joined(parts: list[Estimates]) -> Estimates:
        return Estimates(*(torch.cat(tensors) for tensors in zip(*(part.each() for part in parts), strict=True)))


@dataclass(frozen=True, slots=True)
class Targets:
    """What each step should do. Constants of shape [S]; their weights already hold the division by the step count."""

    policy_weight: Tensor
    """Factor of −log π(a|s), or of the ratio where the loss has its gradient through the ratio."""
    step_weight: Tensor
    """Factor of the entropy bonus and of the critics' losses."""
    value: Tensor
    """What V(s) should be, within [0, 1]."""
    outcome: Tensor
    """What V_traj should be: 1 for success, 0 for failure."""
    behaviour_logprob: Tensor
    """log μ(a|s), for losses that have their gradient through the ratio."""

    @staticmethod
    def of(batch: Batch, policy_weight: Tensor, value: Tensor | None = None) -> Targets:
        """From [N, T] to steps. V(s) is taught `value` clipped into [0, 1], or else the outcome; entropy and critics
        weigh every step alike, but for the correction of prioritised sampling."""
        outcome = batch.spread(batch.outcome)
        value = outcome if value is None else value.clamp(0.0, 1.0)
        step_weight = batch.spread(batch.importance) / batch.steps
        columns = (policy_weight, step_weight, value, outcome, batch.behaviour_logprob)
        return Targets(*(column[batch.mask] for column in columns))

    def part(self, chosen: slice) -> Targets:
        return Targets(*(getattr(self, field.name)[chosen] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Plan:
    """A learner step before it is taken."""

    targets: Targets
    priorities: Tensor
    """[N]: the new priority of each trajectory."""
    metrics: Mapping[str, float]


class Algorithm(Protocol):
    """Mathematics only: no I/O, no clock, no randomness that was not passed in. Owned by a learner."""

    uses_critic: ClassVar[bool] = True
    """Without: targets depend on the batch alone and estimates are read for metrics only. Then no learner step goes to
    warming up a critic, and no sample goes through the model twice."""

    def worth_scoring(self, batch: Batch) -> Tensor:
        """[N]: trajectories that may teach anything, by what is known without the model. The learner leaves the others
        out before `plan`, and they keep their priority."""
        return torch.ones(batch.count, dtype=torch.bool, device=batch.mask.device)

    def plan(self, batch: Batch, estimates: Estimates) -> Plan:
        """Decide for every step what to learn from it. `estimates` has shape [S] and is read without gradient."""

    def losses(self, targets: Targets, estimates: Estimates) -> dict[str, Tensor]:
        """Named terms, each summed over the steps given; their sum is what the learner minimises."""
