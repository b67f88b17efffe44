"""The start-up canary: learner and workers must compute the same log-probability for the same action.

If they differ, every importance ratio is wrong and training degrades without an error. So it is checked on the first
trajectories, and a difference stops the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from distrl.errors import CanaryMismatch
from distrl.learner.batching import RecordedStep


@dataclass(frozen=True, slots=True)
class CanaryResult:
    """`steps` is 0 when no trajectory was played under the learner's current weights: nothing was checked."""

    steps: int
    largest_difference: float
    """Of log-probability per token."""


def compare(steps: Sequence[RecordedStep], logprobs: Sequence[float], *, tolerance: float) -> CanaryResult:
    """Raises `CanaryMismatch` where recorded and recomputed log-probabilities are too far apart, per token."""
    differences = [difference(step, logprob) for step, logprob in zip(steps, logprobs, strict=True)]
    if not differences:
        return CanaryResult(0, 0.0)
    worst = max(range(len(differences)), key=differences.__getitem__)
    if differences[worst] > tolerance:
        raise mismatch(steps[worst], logprobs[worst], differences[worst], tolerance)
    return CanaryResult(len(differences), differences[worst])


def difference(step: RecordedStep, logprob: float) -> float:
    apart = abs(logprob - step.decision.logprob) / max(1, len(step.decision.token_ids))
    return apart if apart == apart else float("inf")  # NaN counts as a difference


def mismatch(step: RecordedStep, logprob: float, apart: float, tolerance: float) -> CanaryMismatch:
    return CanaryMismatch(
        f"The learner gives {step.decision.text!r} a log-probability of {logprob:.4f} where the worker recorded "
        f"{step.decision.logprob:.4f}: {apart:.4f} per token apart, and learner.canary_tolerance allows {tolerance}. "
        f"It is step {step.index} of trajectory {step.trajectory_id}. Likely causes: the worker played other weights "
        f"than version {step.decision.policy_version} of the learner; another precision (policy.dtype) or torch "
        "device; another processor or tokenizer; another decoding or size of the screenshot; another "
        "policy.temperature or policy.history."
    )
