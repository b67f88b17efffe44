"""Settings of the judge: who decides whether a task was done, and how long its outcome may take."""

from __future__ import annotations

from pydantic import PositiveInt

from distrl.choices import Choice
from distrl.config.settings import PositiveFloat, Settings
from distrl.registry import JUDGES


class JudgeConfig(Settings):
    """Who decides whether a task was done. `vlm` and `chain` have settings of their own, listed below; a key that the
    chosen one does not have is an error."""

    kind: str
    """rules: the suite's own rules, from the phone's state; vlm: a vision-language model looks at the last screenshots;
    chain: rules first, the model where they cannot judge."""

    max_pending: PositiveInt = 32
    """Episodes of one worker that wait for their outcome while its devices play on; with so many, devices wait too."""

    give_up_s: PositiveFloat = 600.0
    """An outcome that is not there after so long, all waiting included, is given up: the episode is then invalid, and
    its task is played again."""


JUDGE = Choice(JUDGES, key="kind", default="rules")
