"""What the policy made of a trajectory's screens goes ahead of it, so that the learner need not look at them again.

Best effort: nothing of it is on disk, and whatever does not arrive the learner computes from the image.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterable

from distrl.errors import Unreachable
from distrl.types import Trajectory
from distrl.worker.base import HostClient, PolicyClient

REMEMBERED = 50_000
"""Screens that a worker knows it has sent; a few megabytes."""


class FeatureUpload:
    """Owned by the courier. The screens that every episode shows, a home screen say, are sent once."""

    def __init__(self, policy_client: PolicyClient, client: HostClient) -> None:
        self._policy_client = policy_client
        self._client = client
        self._noted: dict[str, tuple[str, ...]] = {}
        self._sent: OrderedDict[str, None] = OrderedDict()

    def note(self, trajectory: Trajectory) -> None:
        """This one will be delivered; an invalid one is never learned from."""
        if trajectory.outcome.kind != "invalid":
            self._noted[trajectory.id] = tuple(step.screen.digest for step in trajectory.steps)

    async def send(self, identifier: str) -> None:
        """Send what is new among the screens of this trajectory, if it was noted by this process."""
        new = [digest for digest in self._noted.pop(identifier, ()) if digest not in self._sent]
        features = self._policy_client.known_features(list(dict.fromkeys(new)))
        if not features:
            return
        self._remember(features)
        with contextlib.suppress(Unreachable):  # the trajectory matters; it is offered until the host takes it
            await self._client.share(features)

    def _remember(self, digests: Iterable[str]) -> None:
        self._sent.update(dict.fromkeys(digests))
        while len(self._sent) > REMEMBERED:
            self._sent.popitem(last=False)
