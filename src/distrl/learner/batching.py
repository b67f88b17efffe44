"""From trajectories to inputs: a flat list of steps for the model, padded tensors for the algorithm.

Both have the same order: trajectory by trajectory, first step to last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from distrl.algorithms.base import Batch
from distrl.policies.prompts import history_of
from distrl.replay.base import Sample
from distrl.types import Decision, Invalid, Prompt, Screen, Trajectory


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One recorded step with the prompt that the policy was given."""

    trajectory_id: str
    index: int
    prompt: Prompt
    decision: Decision

    def with_screen(self, screen: Screen) -> RecordedStep:
        return replace(self, prompt=replace(self.prompt, screen=screen))


def recorded_steps(trajectories: Sequence[Trajectory], *, history: int) -> list[RecordedStep]:
    """All steps of all trajectories, terminal ones included, with the prompts that the policy was given."""
    return [
        RecordedStep(
            trajectory.id,
            index,
            Prompt(trajectory.task.goal, step.screen, history_of(trajectory.steps[:index], history)),
            step.decision,
        )
        for trajectory in trajectories
        for index, step in enumerate(trajectory.steps)
    ]


def padded_batch(sample: Sample) -> Batch:
    """The same steps as padded tensors [N, T]."""
    trajectories = sample.trajectories
    shape = (len(trajectories), max(len(trajectory.steps) for trajectory in trajectories))
    mask = torch.zeros(shape, dtype=torch.bool)
    terminal = torch.zeros(shape, dtype=torch.bool)
    invalid = torch.zeros(shape, dtype=torch.bool)
    behaviour = torch.zeros(shape)
    for row, trajectory in enumerate(trajectories):
        length = len(trajectory.steps)
        decisions = [step.decision for step in trajectory.steps]
        mask[row, :length] = True
        terminal[row, length - 1] = True
        invalid[row, :length] = torch.tensor([isinstance(decision.action, Invalid) for decision in decisions])
        behaviour[row, :length] = torch.tensor([decision.logprob for decision in decisions])
    return Batch(
        mask=mask,
        terminal=terminal,
        invalid=invalid,
        behaviour_logprob=behaviour,
        outcome=torch.tensor([trajectory.reward for trajectory in trajectories]),
        importance=torch.as_tensor(sample.weights, dtype=torch.float32),
        horizon=torch.tensor([float(max(1, trajectory.task.max_steps)) for trajectory in trajectories]),
        group_mean=torch.as_tensor(sample.group_mean, dtype=torch.float32),
        group_std=torch.as_tensor(sample.group_std, dtype=torch.float32),
    )


def slices(total: int, size: int) -> Iterator[slice]:
    """Consecutive slices of at most `size`: micro-batches."""
    for start in range(0, total, size):
        yield slice(start, min(start + size, total))
