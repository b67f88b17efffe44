"""Calibration of the VLM judge on a run's recorded trajectories: `distrl judge calibrate`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from distrl.config import Config
from distrl.errors import ConfigError
from distrl.evaluation.calibration import Calibration, attack, attackable, calibrate
from distrl.judges.vlm.judge import REASON_PREFIX, VlmJudge
from distrl.runtime.topology import Builder
from distrl.store.run import RunStore
from distrl.types import Screen, Trajectory, Tree

Say = Callable[[str], None]


def calibrate_judge(config: Config, run: Path, *, count: int, attacked: bool, say: Say) -> Tree:
    """The figures of the newest `count` trajectories of a run that rules have judged, and of its failures under attack.

    Raises `ConfigError` if rules have judged none of them.
    """
    with RunStore.read(run) as store:
        trajectories = judged_by_rules(store, count)
        judge = Builder(config).vlm_judge()
        return asyncio.run(_measure(judge, trajectories, store, attacked, say))


def judged_by_rules(store: RunStore, count: int) -> list[Trajectory]:
    table = store.table("id", "reason")
    kept = [str(id_) for id_, reason in zip(*table.values(), strict=True) if not reason.startswith(REASON_PREFIX)]
    if not kept or store.config.get("judge", {}).get("kind") == "vlm":
        raise ConfigError(
            f"{store.folder} holds no trajectory that rules have judged, so there is nothing to compare a model with. "
            "Take a run with judge.kind=rules or chain."
        )
    return list(store.trajectories(ids=kept[-count:]))


async def _measure(judge: VlmJudge, trajectories: list[Trajectory], store: RunStore, attacked: bool, say: Say) -> Tree:
    def load(trajectory: Trajectory) -> Trajectory:
        return with_images(trajectory, store)

    at_once = judge.config.concurrency
    try:
        say(f"asking {judge.config.model} about {len(trajectories)} trajectories")
        plain = await calibrate(judge, trajectories, load, at_once)
        figures = {"model": judge.config.model, "url": judge.config.url, **plain.summary(), **_wrongs(plain)}
        if attacked:
            failures = sum(map(attackable, trajectories))
            say(f"asking about {failures} failures that the agent called done, under each attack")
            figures["attacks"] = _compared(plain, await attack(judge, trajectories, load, at_once))
        return {**figures, "account": judge.summary()}
    finally:
        await judge.close()


def _wrongs(calibration: Calibration) -> Tree:
    """The disagreements, to be inspected with `distrl replay`."""
    wrong = [pair for pair in calibration.verdicts if not pair.agrees]
    return {
        "disagreements": [
            {
                "trajectory": pair.trajectory,
                "rules": "success" if pair.truth else "failure",
                "judge": pair.verdict.kind if pair.verdict else "unjudged",
                "reason": pair.verdict.reason if pair.verdict else pair.problem,
            }
            for pair in wrong
        ]
    }


def _compared(plain: Calibration, attacks: dict[str, Calibration]) -> Tree:
    """For each attack the failures accepted under it, and how many of them were not accepted without it."""
    before = {pair.trajectory for pair in plain.verdicts if pair.verdict and pair.verdict.success}
    compared = {}
    for name, calibration in attacks.items():
        accepted = {each.trajectory for each in calibration.verdicts if each.verdict and each.verdict.success}
        compared[name] = {
            **calibration.false_accepts.summary(),
            "unjudged": calibration.unjudged,
            "turned": len(accepted - before),
        }
    return compared


def with_images(trajectory: Trajectory, store: RunStore) -> Trajectory:
    """The trajectory with its images; stored ones hold references to their screens."""

    def seen(screen: Screen) -> Screen:
        return store.screen(screen.digest)

    steps = tuple(replace(step, screen=seen(step.screen)) for step in trajectory.steps)
    return replace(trajectory, steps=steps, last_screen=trajectory.last_screen and seen(trajectory.last_screen))
