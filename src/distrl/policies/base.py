"""The policy protocols that workers, the policy server and the learner use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy.typing as npt

from distrl.types import Decision, Features, Prompt, Screen, VersionedWeights

if TYPE_CHECKING:
    import torch


class Policy(Protocol):
    """Screen in, action out, in batches. Owned by one worker; not safe for use from two threads at once."""

    @property
    def version(self) -> int: ...

    def act(self, prompts: Sequence[Prompt]) -> list[Decision]:
        """One decision per prompt, all under the same weights."""

    def load(self, weights: VersionedWeights) -> None:
        """Load newer weights. Raises `CorruptData`, and keeps the old ones, when the checksum is wrong."""

    def known_features(self, digests: Sequence[str]) -> Features:
        """Copies of the cached features of these screens, as float32; empty for a policy that caches none.
        May be called while another thread acts."""


@runtime_checkable
class Staging(Protocol):
    """A policy that can prepare new weights while another thread acts."""

    def stage(self, weights: VersionedWeights) -> Callable[[], None]:
        """Copy the weights to the device, beside the old ones. The returned function swaps them in at once;
        call it while no thread acts. Raises `CorruptData` for weights of another model."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of recorded actions under a trainable policy, differentiable. Every tensor has shape [N]."""

    logprob: torch.Tensor
    """log π(a|s): summed over the action's tokens, end-of-sequence included, at the sampling temperature."""
    entropy: torch.Tensor
    """Mean over the action's tokens of the entropy of the policy's token distribution."""
    value_logit: torch.Tensor
    """The critic's logit of V(s)."""
    trajectory_value_logit: torch.Tensor
    """The critic's logit of V_traj, from the same state."""


class TrainablePolicy(Policy, Protocol):
    """A policy that a learner can train. Per screen, by digest, it caches features where the vision tower is frozen and
    pixels where it is trained."""

    def missing(self, screens: Sequence[Screen]) -> list[str]:
        """Digests of the screens whose image `score` needs: those that are not cached."""

    def score(self, prompts: Sequence[Prompt], token_ids: Sequence[Sequence[int]]) -> Scores:
        """Score recorded tokens. Screens may be references if `missing` did not name them."""

    def remember(self, screens: Sequence[Screen]) -> None:
        """Cache what `score` needs of these screens, which carry their images."""

    def adopt(self, screens: Sequence[Screen], features: Features) -> None:
        """Cache features of these screens that an equal vision tower computed; a policy that caches none ignores
        them. Raises `CorruptData`, and takes none, when one does not fit its screen."""

    def forget(self, digests: Sequence[str]) -> None:
        """Drop these screens from the cache."""

    def policy_parameters(self) -> list[torch.nn.Parameter]: ...

    def critic_parameters(self) -> list[torch.nn.Parameter]: ...

    def weights(self) -> dict[str, npt.NDArray[Any]]:
        """All trainable parameters, critic included, as numpy arrays: views that change with the parameters, where
        nothing has to be converted."""

    def save(self, folder: Path) -> None:
        """Write a Hugging Face model folder, with the critic beside it as `critic.safetensors`."""
