"""Loads the screens of a sample for the learner: from its cache, from features that workers uploaded, or as images."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from distrl.errors import CorruptData
from distrl.learner.base import ScreenSource
from distrl.learner.batching import RecordedStep
from distrl.policies.base import TrainablePolicy
from distrl.types import Screen


class ScreenLoader:
    """Prepares steps for scoring. Made per sample; counts where its screens came from."""

    def __init__(self, policy: TrainablePolicy, source: ScreenSource, *, shared_features: bool) -> None:
        """`shared_features`: use features that workers uploaded; if False, only images."""
        self._policy = policy
        self._source = source
        self._shared_features = shared_features
        self.adopted = 0
        self.fetched = 0

    def load(self, steps: Sequence[RecordedStep]) -> list[RecordedStep]:
        """The same steps, ready to be scored: those whose screen is not in the policy's cache carry the image."""
        screens = [step.prompt.screen for step in steps]
        missing = self._policy.missing(screens)
        if missing and self._shared_features:
            missing = self._load_features(screens, missing)
        images = {screen.digest: screen for screen in self._source.screens(missing)} if missing else {}
        self._policy.remember(list(images.values()))
        self.fetched += len(images)
        return [step.with_screen(images.get(step.prompt.screen.digest, step.prompt.screen)) for step in steps]

    def metrics(self) -> dict[str, float]:
        return {"screens/adopted": float(self.adopted), "screens/fetched": float(self.fetched)}

    def _load_features(self, screens: Sequence[Screen], missing: list[str]) -> list[str]:
        """Digests still missing after the uploaded features were cached."""
        with contextlib.suppress(CorruptData):  # fall back to the images
            self._policy.adopt(screens, self._source.features(missing))
        left = self._policy.missing(screens)
        self.adopted += len(missing) - len(left)
        return left
