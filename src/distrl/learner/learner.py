"""Batch in, new weights out.

Invariants:
- `version` counts changes of the weights: two different sets of weights never share a version, and it never decreases,
  not even when the learner rolls back;
- a loss or gradient that is not finite changes nothing: neither weights nor AdamW's moments;
- micro-batches bound memory and change no result;
- what is published, evaluated and saved as a checkpoint's `model/` is one thing: the moving average (EMA) of the
  weights, or with `learner.average_steps` 1 the weights themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

import numpy as np
import torch

from distrl import algorithms
from distrl.algorithms.base import Algorithm, Estimates, Plan
from distrl.config import Config
from distrl.errors import TrainingDiverged
from distrl.learner import batching, canary
from distrl.learner.base import ScreenSource
from distrl.learner.batching import RecordedStep
from distrl.learner.ema import WeightEma
from distrl.learner.screen_loader import ScreenLoader
from distrl.policies.base import TrainablePolicy
from distrl.replay.base import Sample
from distrl.types import Trajectory, VersionedWeights


@dataclass(frozen=True, slots=True)
class StepReport:
    """What one learner step did."""

    version: int
    metrics: dict[str, float]
    priorities: dict[str, float] = field(default_factory=dict)
    """Trajectory id → new priority; empty when the step was skipped."""
    skipped: bool = False
    """The loss or the gradient was not finite; the weights are unchanged."""
    idle: bool = False
    """The algorithm could learn from nothing in the sample; the weights are unchanged, under a new version."""
    publish: bool = False
    """These weights are to be published to the workers."""
    ids: tuple[str, ...] = ()
    """The trajectories of the sample, for inspecting a bad one."""


class Learner:
    """Trains one policy. Owns its optimiser; not safe for use from two threads at once."""

    def __init__(
        self,
        policy: TrainablePolicy,
        config: Config,
        rng: np.random.Generator,
        roll_back: Callable[[Learner], None] | None = None,
    ) -> None:
        self.policy = policy
        self.config = config
        self.rng = rng  # for algorithms that sample; saved with the checkpoint
        self.roll_back = roll_back  # restores the last good checkpoint; without it, divergence is an error
        self.algorithm = algorithm_of(config)
        self.version = 0
        self.steps = 0
        self.bad_steps = 0
        self._rolled_back = False
        self.optimiser = self.new_optimiser()
        self.ema = WeightEma([*policy.policy_parameters(), *policy.critic_parameters()], config.learner.average_steps)

    def new_optimiser(self) -> torch.optim.AdamW:
        settings = self.config.learner
        groups = [
            {"params": self.policy.policy_parameters(), "lr": settings.learning_rate},
            {"params": self.policy.critic_parameters(), "lr": settings.critic_learning_rate},
        ]
        return torch.optim.AdamW(groups, weight_decay=settings.weight_decay)

    # --- one step -------------------------------------------------------------------------------

    def step(self, sample: Sample, source: ScreenSource) -> StepReport:
        """Learn from one sample. Raises `TrainingDiverged` after too many bad steps in a row."""
        self.optimiser.zero_grad(set_to_none=True)
        seen = {**describe(sample), **self._lags(sample.trajectories)}
        scored = sample.only(self.algorithm.worth_scoring(batching.padded_batch(sample)).numpy())
        if not scored.ids:
            return self._idle(sample, seen)
        loader = ScreenLoader(self.policy, source, shared_features=self.config.workers.share_features)
        plan, losses = self._gradients(scored, loader)
        metrics = {f"loss/{name}": value for name, value in losses.items()}
        metrics["loss/total"] = sum(losses.values())
        metrics |= {**self._clip(), **plan.metrics, **loader.metrics(), **seen}
        good = np.isfinite([metrics["loss/total"], metrics["gradient/policy"], metrics["gradient/critic"]]).all()
        if not good or not torch.isfinite(plan.priorities).all():
            return self._skip(sample, metrics)
        self._optimiser_step()
        priorities = dict(zip(scored.ids, plan.priorities.tolist(), strict=True))
        return StepReport(self.version, metrics, priorities, publish=self._publishes(), ids=sample.ids)

    def sealed(self) -> VersionedWeights:
        """The weights to publish now, with their version and checksum. No copy: the next step may change them."""
        with self.outgoing():
            return VersionedWeights.seal(self.version, self.policy.weights())

    def outgoing(self) -> AbstractContextManager[None]:
        """While the block runs, the policy holds the weights to publish (the EMA) in place of those in training."""
        return self.ema.swapped_in()

    def catch_up(self, version: int) -> None:
        """Continue from a version that was published already: after a restart, no version may be used twice."""
        self.version = max(self.version, version)

    def canary(self, trajectories: Sequence[Trajectory], source: ScreenSource) -> canary.CanaryResult:
        """Recompute, from the images, the log-probabilities that workers recorded under the current weights.
        Raises `CanaryMismatch`."""
        same = [t for t in trajectories if {s.decision.policy_version for s in t.steps} == {self.version}]
        steps = batching.recorded_steps(same[: self.config.learner.canary_trajectories], history=self._history)
        # With features uploaded by a worker, or cached from it, this would compare the worker with itself.
        self.policy.forget([step.prompt.screen.digest for step in steps])
        loader = ScreenLoader(self.policy, source, shared_features=False)
        with torch.no_grad():
            scores = [self._score(steps[piece], loader) for piece in self._pieces(steps)]
        logprobs = torch.cat([score.logprob for score in scores]).tolist() if scores else []
        return canary.compare(steps, logprobs, tolerance=self.config.learner.canary_tolerance)

    # --- inside ---------------------------------------------------------------------------------

    @property
    def _device(self) -> torch.device:
        return self.policy.policy_parameters()[0].device

    @property
    def _history(self) -> int:
        return self.config.policy.history

    def _pieces(self, steps: Sequence[RecordedStep]) -> list[slice]:
        return list(batching.slices(len(steps), self.config.learner.micro_batch))

    def _gradients(self, sample: Sample, loader: ScreenLoader) -> tuple[Plan, dict[str, float]]:
        """The plan for this sample, and its losses; their gradients are accumulated in the parameters.

        The plan needs estimates of the whole sample. A small sample keeps its activations until then; a large one is
        scored without gradient first and again, in micro-batches, with it. Without a critic the targets are known
        beforehand and every micro-batch is scored once.
        """
        steps = batching.recorded_steps(sample.trajectories, history=self._history)
        batch = batching.padded_batch(sample).to(self._device)
        pieces = self._pieces(steps)

        def score(piece: slice) -> Estimates:
            return self._score(steps[piece], loader)

        if not self.algorithm.uses_critic:
            known = self.algorithm.plan(batch, Estimates.none(len(steps), self._device))
            losses, estimates = self._backward(known, pieces, score)
            return self.algorithm.plan(batch, estimates), losses
        resident = len(steps) <= self.config.learner.resident_steps
        with torch.set_grad_enabled(resident):
            estimates = Estimates.joined([score(piece) for piece in pieces])
        plan = self.algorithm.plan(batch, estimates)
        if resident:
            return plan, self._backward(plan, [slice(0, len(steps))], lambda _: estimates)[0]
        return plan, self._backward(plan, pieces, score)[0]

    def _backward(
        self, plan: Plan, pieces: Sequence[slice], score: Callable[[slice], Estimates]
    ) -> tuple[dict[str, float], Estimates]:
        """Accumulate the gradients of all micro-batches. Returns the summed losses and the detached estimates."""
        totals: dict[str, float] = {}
        seen: list[Estimates] = []
        for piece in pieces:
            scored = score(piece)
            losses = self.algorithm.losses(plan.targets.part(piece), scored)
            torch.stack(list(losses.values())).sum().backward()  # type: ignore[no-untyped-call]
            totals = {name: totals.get(name, 0.0) + loss.item() for name, loss in losses.items()}
            seen.append(scored.detached())
        return totals, Estimates.joined(seen)

    def _score(self, steps: Sequence[RecordedStep], loader: ScreenLoader) -> Estimates:
        """Scores of at most one micro-batch."""
        loaded = loader.load(steps)
        scores = self.policy.score([step.prompt for step in loaded], [step.decision.token_ids for step in loaded])
        return Estimates(scores.logprob, scores.entropy, scores.value_logit, scores.trajectory_value_logit)

    def _clip(self) -> dict[str, float]:
        """Clips gradient norms of policy and critic separately: large critic gradients must not shrink the policy's."""
        limit = self.config.learner.max_grad_norm
        norms = [torch.nn.utils.clip_grad_norm_(group["params"], limit) for group in self.optimiser.param_groups]
        return {"gradient/policy": float(norms[0]), "gradient/critic": float(norms[1])}

    def _optimiser_step(self) -> None:
        settings = self.config.learner
        moving = self.steps - (settings.critic_warmup_steps if self.algorithm.uses_critic else 0)
        if moving < 0:  # critic warm-up: without a gradient AdamW skips the policy and its moments
            for parameter in self.policy.policy_parameters():
                parameter.grad = None
        self.optimiser.param_groups[0]["lr"] = settings.learning_rate * self._rate_scale(moving)
        self.optimiser.step()
        self.ema.add(first=moving < 0)
        self.steps += 1
        self.version += 1
        self.bad_steps = 0
        self._rolled_back = False

    def _rate_scale(self, moving: int) -> float:
        """Factor of the learning rate at the policy's `moving`-th step: linear warm-up times exponential decay."""
        settings = self.config.learner
        rising = min(1.0, max(0.0, (moving + 1) / (settings.rate_warmup_steps + 1)))
        return (
            rising * 0.5 ** (max(0, moving) / settings.rate_half_life_steps)
            if settings.rate_half_life_steps
            else rising
        )

    def _publishes(self) -> bool:
        return self.steps % self.config.learner.publish_every == 0

    def _idle(self, sample: Sample, metrics: dict[str, float]) -> StepReport:
        """A step without gradient. It still makes a version: workers that are held until the next one would otherwise
        wait for ever."""
        self._optimiser_step()
        metrics = {**metrics, "sample/left_out": 1.0, "sample/steps_learned": 0.0}
        return StepReport(self.version, metrics, publish=self._publishes(), idle=True, ids=sample.ids)

    def _skip(self, sample: Sample, metrics: dict[str, float]) -> StepReport:
        self.optimiser.zero_grad(set_to_none=True)
        self.bad_steps += 1
        rolled_back = self.bad_steps >= self.config.learner.max_bad_steps
        if rolled_back:
            self._recover(sample)
        finite = {name: value for name, value in metrics.items() if np.isfinite(value)}
        finite["learner/bad_steps"] = float(self.bad_steps)
        return StepReport(self.version, finite, skipped=True, publish=rolled_back, ids=sample.ids)

    def _recover(self, sample: Sample) -> None:
        """Roll back to the last good checkpoint, once; its weights are published under a new version."""
        if self.roll_back is None or self._rolled_back:
            raise TrainingDiverged(
                f"{self.bad_steps} learner steps in a row gave a loss or gradient that is not finite; the weights "
                f"are those of version {self.version}. The last sample was {', '.join(sample.ids)}. "
                "Lower learner.learning_rate or algorithm.ratio_clip, and resume from the last checkpoint."
            )
        seen = self.version
        self.roll_back(self)
        self.catch_up(seen)
        self.version += 1
        self.bad_steps = 0
        self._rolled_back = True

    def _lags(self, trajectories: Sequence[Trajectory]) -> dict[str, float]:
        lags = np.array([self.version - trajectory.policy_version for trajectory in trajectories])
        p50, p95 = np.quantile(lags, [0.5, 0.95])
        return {"lag/p50": float(p50), "lag/p95": float(p95), "lag/max": float(lags.max())}


def algorithm_of(config: Config) -> Algorithm:
    """The algorithm of a run, with its settings."""
    return algorithms.build(config.algorithm)


def describe(sample: Sample) -> dict[str, float]:
    """Metrics of the whole sample, before the algorithm leaves trajectories out."""
    steps = sum(len(trajectory.steps) for trajectory in sample.trajectories)
    return {
        "sample/success": float(np.mean([trajectory.reward for trajectory in sample.trajectories])),
        "sample/steps": float(steps),
        "sample/invalid_actions": sum(trajectory.invalid_actions for trajectory in sample.trajectories) / steps,
    }
