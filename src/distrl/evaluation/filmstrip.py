"""One trajectory as a film strip: its screens in a row, where the finger went, and what the policy thought.

Everything that came from a task, a model or a phone is escaped by the template: it is shown, never obeyed.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup
from PIL import Image, UnidentifiedImageError

from distrl.errors import CorruptData
from distrl.evaluation.marker import Marker, marker
from distrl.evaluation.page import fill
from distrl.types import COORDINATE_MAX, Action, Invalid, Screen, Step, Trajectory

LARGEST_HEIGHT = 520
"""Higher screenshots are made smaller, so that a page of them stays light."""

Picture = Callable[[str], Screen]
"""Digest → the screen with its image, as `RunStore.screen` gives it; raises `CorruptData` when there is none."""


@dataclass(frozen=True, slots=True)
class ShownScreen:
    """A screenshot on the page. `source` is a data URI; where there is none, `missing` says why."""

    width: int
    height: int
    source: str
    missing: str
    marker: Marker | None


@dataclass(frozen=True, slots=True)
class FilmFrame:
    shown: ShownScreen
    text: str
    wrong: bool
    value: float
    reward: float
    version: int

    @property
    def gain(self) -> str:
        return "gain" if self.reward > 0 else "loss" if self.reward < 0 else ""

    @property
    def reward_text(self) -> str:
        return f"{self.reward:+.1f}" if self.reward else "0"


def filmstrip(trajectory: Trajectory, picture: Picture, *, invalid_penalty: float = 0.0, lead: str = "") -> Markup:
    """An HTML fragment; its style is in the page's style sheet. A missing picture leaves a grey frame."""
    last = len(trajectory.steps) - 1
    return fill(
        "filmstrip.html.jinja",
        unit=COORDINATE_MAX,
        kind=trajectory.outcome.kind,
        goal=trajectory.task.goal,
        facts=" · ".join(_facts(trajectory)),
        id=trajectory.id,
        lead=lead,
        frames=[
            _frame(step, picture, _reward(trajectory, step, number == last, invalid_penalty))
            for number, step in enumerate(trajectory.steps)
        ],
        end=None if trajectory.last_screen is None else _shown(trajectory.last_screen, picture, None),
    )


def film_page(trajectory: Trajectory, picture: Picture, *, invalid_penalty: float = 0.0) -> str:
    """A page of its own for one trajectory."""
    strip = filmstrip(trajectory, picture, invalid_penalty=invalid_penalty)
    return fill("replay.html.jinja", title=trajectory.task.goal, strip=strip)


def _facts(trajectory: Trajectory) -> list[str]:
    steps = len(trajectory.steps)
    facts = [trajectory.task.template, f"{steps} step{'s' * (steps != 1)}", f"policy version {_versions(trajectory)}"]
    if trajectory.duration_s:
        facts.append(f"{trajectory.duration_s:.1f} s")
    if trajectory.outcome.reason:
        facts.append(trajectory.outcome.reason)
    return facts


def _versions(trajectory: Trajectory) -> str:
    versions = {step.decision.policy_version for step in trajectory.steps} or {0}
    return str(min(versions)) if len(versions) == 1 else f"{min(versions)}–{max(versions)}"


def _reward(trajectory: Trajectory, step: Step, is_last: bool, invalid_penalty: float) -> float:
    penalty = invalid_penalty if isinstance(step.decision.action, Invalid) else 0.0
    return (trajectory.reward if is_last else 0.0) - penalty


def _frame(step: Step, picture: Picture, reward: float) -> FilmFrame:
    decision = step.decision
    shown = _shown(step.screen, picture, decision.action)
    wrong = isinstance(decision.action, Invalid)
    return FilmFrame(shown, decision.text, wrong, decision.value, reward, decision.policy_version)


def _shown(screen: Screen, picture: Picture, action: Action | None) -> ShownScreen:
    width, height = max(screen.width, 1), max(screen.height, 1)
    source = missing = ""
    try:
        source = _data_uri(picture(screen.digest).image, height)
    except (CorruptData, UnidentifiedImageError) as error:
        missing = str(error)
    return ShownScreen(width, height, source, missing, marker(action, height / width))


def _data_uri(image: bytes, height: int) -> str:
    kind = "png" if image.startswith(b"\x89PNG") else "jpeg"
    if height > LARGEST_HEIGHT:
        image, kind = _smaller(image), "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"


def _smaller(image: bytes) -> bytes:
    with Image.open(io.BytesIO(image)) as opened:
        opened.thumbnail((LARGEST_HEIGHT, LARGEST_HEIGHT))
        out = io.BytesIO()
        opened.convert("RGB").save(out, "JPEG", quality=82)
    return out.getvalue()
