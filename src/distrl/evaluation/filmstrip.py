"""One trajectory as a film strip: its screens in a row, where the finger went, and what the policy thought.

Everything that came from a task, a model or a phone is escaped: it is shown, never obeyed.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable
from html import escape

from PIL import Image, UnidentifiedImageError

from distrl.errors import CorruptData
from distrl.evaluation.page import page
from distrl.types import COORDINATE_MAX, Action, Invalid, LongPress, Screen, Step, Swipe, Tap, Trajectory

LARGEST_HEIGHT = 520
"""Higher screenshots are made smaller, so that a page of them stays light."""

Picture = Callable[[str], Screen]
"""Digest → the screen with its image, as `RunStore.screen` gives it; raises `CorruptData` when there is none."""

BADGES = {"success": "Success", "failure": "Failure", "invalid": "Invalid"}


def filmstrip(trajectory: Trajectory, picture: Picture, *, invalid_penalty: float = 0.0) -> str:
    """An HTML fragment; its style is in the page's style sheet. A missing picture leaves a grey frame."""
    last = len(trajectory.steps) - 1
    frames = [
        _frame(step, number, picture, _reward(trajectory, step, number == last, invalid_penalty))
        for number, step in enumerate(trajectory.steps)
    ]
    if trajectory.last_screen is not None:
        frames.append(_end(trajectory.last_screen, picture))
    return f'<article class="strip">{_header(trajectory)}<ol class="frames">{"".join(frames)}</ol></article>'


def film_page(trajectory: Trajectory, picture: Picture, *, invalid_penalty: float = 0.0) -> str:
    """A page of its own for one trajectory."""
    strip = filmstrip(trajectory, picture, invalid_penalty=invalid_penalty)
    return page(trajectory.task.goal, f'<p class="overline">DistRL replay</p>{strip}')


def _header(trajectory: Trajectory) -> str:
    kind = trajectory.outcome.kind
    steps = len(trajectory.steps)
    facts = [trajectory.task.template, f"{steps} step{'s' * (steps != 1)}", f"policy version {_versions(trajectory)}"]
    if trajectory.duration_s:
        facts.append(f"{trajectory.duration_s:.1f} s")
    if trajectory.outcome.reason:
        facts.append(trajectory.outcome.reason)
    said = " · ".join(escape(fact) for fact in facts)
    return (
        f'<header><span class="badge {kind}">{BADGES[kind]}</span><h3>{escape(trajectory.task.goal)}</h3>'
        f'<p class="facts">{said}<code>{escape(trajectory.id)}</code></p></header>'
    )


def _versions(trajectory: Trajectory) -> str:
    versions = {step.decision.policy_version for step in trajectory.steps} or {0}
    return str(min(versions)) if len(versions) == 1 else f"{min(versions)}–{max(versions)}"


def _reward(trajectory: Trajectory, step: Step, is_last: bool, invalid_penalty: float) -> float:
    penalty = invalid_penalty if isinstance(step.decision.action, Invalid) else 0.0
    return (trajectory.reward if is_last else 0.0) - penalty


def _frame(step: Step, number: int, picture: Picture, reward: float) -> str:
    decision = step.decision
    wrong = " wrong" if isinstance(decision.action, Invalid) else ""
    gain = "gain" if reward > 0 else "loss" if reward < 0 else ""
    numbers = (
        f'<dt>value</dt><dd>{decision.value:.2f}</dd><dt>reward</dt><dd class="{gain}">{reward:+.1f}</dd>'
        f"<dt>version</dt><dd>{decision.policy_version}</dd>"
    ).replace("+0.0", "0")
    return (
        f'<li><figure>{_screen(step.screen, picture, decision.action)}<figcaption><b class="number">{number + 1}</b>'
        f'<code class="action{wrong}">{escape(decision.text)}</code><dl>{numbers}</dl></figcaption></figure></li>'
    )


def _end(screen: Screen, picture: Picture) -> str:
    caption = '<figcaption><b class="number">end</b></figcaption>'
    return f'<li class="end"><figure>{_screen(screen, picture, None)}{caption}</figure></li>'


def _screen(screen: Screen, picture: Picture, action: Action | None) -> str:
    width, height = max(screen.width, 1), max(screen.height, 1)
    try:
        shown = f'<img src="{_data_uri(picture(screen.digest).image, height)}" alt="" loading="lazy">'
    except (CorruptData, UnidentifiedImageError) as error:
        shown = f'<span class="missing" title="{escape(str(error))}">picture missing</span>'
    marker = _marker(action, COORDINATE_MAX * height / width)
    return f'<div class="phone" style="aspect-ratio:{width}/{height}">{shown}{marker}</div>'


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


# --- where the finger went ----------------------------------------------------------------------


def _marker(action: Action | None, tall: float) -> str:
    """An overlay whose unit is a thousandth of the screen's width in both directions, so that circles stay round."""
    scale = tall / COORDINATE_MAX
    match action:
        case Tap(x, y):
            drawn = _ring(x, y * scale, 58) + _dot(x, y * scale)
        case LongPress(x, y):
            drawn = _ring(x, y * scale, 58) + _ring(x, y * scale, 92) + _dot(x, y * scale)
        case Swipe(x, y, to_x, to_y):
            drawn = _arrow(x, y * scale, to_x, to_y * scale)
        case _:
            return ""
    return f'<svg class="marker" viewBox="0 0 {COORDINATE_MAX} {tall:.0f}" aria-hidden="true">{drawn}</svg>'


def _ring(x: float, y: float, radius: float) -> str:
    circle = f'cx="{x:.0f}" cy="{y:.0f}" r="{radius:.0f}"'
    return f'<circle class="halo" {circle}/><circle class="ring" {circle}/>'


def _dot(x: float, y: float) -> str:
    return f'<circle class="dot" cx="{x:.0f}" cy="{y:.0f}" r="17"/>'


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    angle = math.atan2(to_y - y, to_x - x)
    barbs = [(to_x - 85 * math.cos(angle + turn), to_y - 85 * math.sin(angle + turn)) for turn in (-0.5, 0.5)]
    (ax, ay), (bx, by) = barbs
    path = f"M{x:.0f} {y:.0f}L{to_x:.0f} {to_y:.0f}M{ax:.0f} {ay:.0f}L{to_x:.0f} {to_y:.0f}L{bx:.0f} {by:.0f}"
    return f'<path class="halo" d="{path}"/><path class="ring" d="{path}"/>{_dot(x, y)}'
