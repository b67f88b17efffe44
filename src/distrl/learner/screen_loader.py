"""How the learner comes to see the screens of a sample: by what it remembers, what workers shared, or the image."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from distrl.errors import CorruptData
from distrl.learner.base import ScreenSource
from distrl.learner.batching import RecordedStep
from distrl.policies.base import TrainablePolicy
from distrl.types import Screen


class ScreenLoader:
    """Prepares steps for scoring. Lives for one sample and counts how its screens were seen."""

    def __init__(self, policy: TrainablePolicy, source: ScreenSource, *, adopts: bool) -> None:
        """`adopts`: take features that workers shared; without, every screen is seen by its image."""
        self._policy = policy
        self._source = source
        self._adopts = adopts
        self.adopted = 0
        self.fetched = 0

    def shown(self, steps: Sequence[RecordedStep]) -> list[RecordedStep]:
        """The same steps, ready to be scored: those whose screen the policy did not know carry the image."""
        screens = [step.prompt.screen for step in steps]
        missing = self._policy.missing(screens)
        if missing and self._adopts:
            missing = self._adopt(screens, missing)
        images = {screen.digest: screen for screen in self._source.screens(missing)} if missing else {}
        self._policy.remember(list(images.values()))
        self.fetched += len(images)
        return [step.with_screen(images.get(step.prompt.screen.digest, step.prompt.screen)) for step in steps]

    def metrics(self) -> dict[str, float]:
        return {"screens/adopted": float(self.adopted), "screens/fetched": float(self.fetched)}

    def _adopt(self, screens: Sequence[Screen], missing: list[str]) -> list[str]:
        """What is still missing after workers' features were taken."""
        with contextlib.suppress(CorruptData):  # the images tell the same
            self._policy.adopt(screens, self._source.features(missing))
        left = self._policy.missing(screens)
        self.adopted += len(missing) - len(left)
        return left
