"""How the pocket model's weights are made: read first, then imitate demonstrations of the train split.

The warm start is meant to be good enough to succeed now and then, and no better: reinforcement learning does the rest.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from distrl.config import PolicyConfig
from distrl.devices.sim.device import SimPhone
from distrl.evaluation.statistics import wilson
from distrl.judges.rules import RuleJudge
from distrl.learner.supervised import Lessons, Schedule, Teacher
from distrl.policies.inputs import PromptEncoder
from distrl.policies.pocket.build import build_model, build_processor
from distrl.policies.server import PolicyServer
from distrl.policies.vlm import VlmPolicy, torch_device
from distrl.runtime.lessons import LessonWriter, joined, lexicon
from distrl.tasks.base import load_suite
from distrl.types import Task
from distrl.worker.episode import Episode, Limits

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Amounts. The defaults made the weights that ship; smaller ones show that the path works."""

    suites: tuple[str, ...] = ("general", "webshop")
    lexicon_phones: int = 1500
    walks: int = 60_000
    """Phones looked at; about 2.5 screens each."""
    babel_share: float = 0.5
    """Share of them that show random words on random widgets."""
    read_steps: int = 9_000
    demonstrations: int = 600
    """Training tasks shown per suite."""
    imitate_steps: int = 1_000
    imitate_rate: float = 3e-4
    batch_size: int = 256
    history: int = 3
    episodes: int = 128
    """Held-out tasks per suite and split, to say how good the result is."""
    seed: int = 0
    processes: int = 1
    device: str = "auto"


def make_pocket(folder: Path, recipe: Recipe, say: Say) -> dict[str, Any]:
    """Make the weights, write the model folder with its card's figures, and return those."""
    device = torch_device(recipe.device)
    words = lexicon(recipe.suites, recipe.lexicon_phones, recipe.seed)
    say(f"lexicon: {len(words)} words")
    processor = build_processor(words)
    model = build_model(processor, seed=recipe.seed)
    encoder = PromptEncoder(processor, processor.tokenizer.image_token_id, instruct=False)
    writer = LessonWriter(encoder, recipe.processes)
    teacher = Teacher(model, pad_id=processor.tokenizer.pad_token_id, device=device, seed=recipe.seed)

    reading = _timed(
        say,
        "random screens",
        lambda: writer.random_screens(words, recipe.walks, babel_share=recipe.babel_share, seed=recipe.seed),
    )
    say(f"{len(reading.pixels)} screens, {len(reading.screen)} examples")
    report = _reporter(say)
    _timed(say, "reading", lambda: teacher.teach(reading, Schedule(recipe.read_steps, recipe.batch_size), report))

    shown = [t for s in recipe.suites for t in load_suite(s).tasks("train", recipe.demonstrations, recipe.seed)]
    imitation = _timed(say, "demonstrations", lambda: writer.demonstrations(shown, recipe.history))
    say(f"{len(imitation.screen)} demonstrated steps")
    mixed = joined([imitation, sample(reading, len(imitation.screen), recipe.seed)])
    schedule = Schedule(recipe.imitate_steps, recipe.batch_size, recipe.imitate_rate, warmup=50, train_vision=False)
    _timed(say, "imitating", lambda: teacher.teach(mixed, schedule, report))

    save(model, processor, folder)
    return _graded(folder, recipe, say)


def sample(lessons: Lessons, count: int, seed: int) -> Lessons:
    """Some examples, with just the screens they need."""
    picks = np.random.default_rng(seed).choice(len(lessons.screen), min(count, len(lessons.screen)), replace=False)
    screens, where = np.unique(lessons.screen[picks], return_inverse=True)
    return Lessons(
        pixels=lessons.pixels[screens],
        cells=lessons.cells[screens],
        screen=where.astype(np.int64),
        prompts=lessons.prompts[picks],
        actions=lessons.actions[picks],
    )


def save(model: Any, processor: Any, folder: Path) -> None:
    """Half precision on disk: the weights ship with the package."""
    for parameter in model.parameters():
        parameter.requires_grad_(True)
    model.to("cpu", torch.float16).save_pretrained(folder)
    processor.save_pretrained(folder)


def grade(policy: VlmPolicy, tasks: Sequence[Task], *, devices: int = 64, history: int = 3) -> list[bool]:
    """Play the tasks, many at a time, and say which succeeded."""
    return asyncio.run(_play_all(policy, tasks, devices, history))


async def _play_all(policy: VlmPolicy, tasks: Sequence[Task], devices: int, history: int) -> list[bool]:
    server = PolicyServer(policy, batch_size=devices)
    limits = Limits(command_s=600.0, episode_s=3600.0, history=history)
    free = asyncio.Semaphore(devices)

    async def play(task: Task) -> bool:
        async with free:
            phone = SimPhone("sim://phone")
            episode = Episode(phone, server, RuleJudge(), limits, mint=lambda: str(uuid.uuid4()), now=time.time)
            return (await episode.play(task)).outcome.success

    return list(await asyncio.gather(*(play(task) for task in tasks)))


def _graded(folder: Path, recipe: Recipe, say: Say) -> dict[str, Any]:
    policy = VlmPolicy.load_model(PolicyConfig(model=str(folder), device=recipe.device), seed=recipe.seed)
    results: dict[str, Any] = {
        "recipe": asdict(recipe),
        "parameters": sum(p.numel() for p in policy.model.parameters()),
    }
    for suite in recipe.suites:
        for split in ("test-instances", "test-templates", "test-apps"):
            for temperature in (1.0, 0.0):
                policy.temperature = temperature
                wins = grade(policy, load_suite(suite).tasks(split, recipe.episodes, 4))
                low, high = wilson(sum(wins), len(wins))
                results[f"{suite}/{split}/temperature {temperature:g}"] = [sum(wins) / len(wins), low, high]
                say(
                    f"{suite} {split} at temperature {temperature:g}: {sum(wins) / len(wins):.3f} ({low:.3f}–{high:.3f})"
                )
    (folder / "made.json").write_text(json.dumps(results, indent=1))
    return results


def _timed(say: Say, what: str, work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    result = work()
    say(f"{what}: {time.perf_counter() - began:.0f} s")
    return result


def _reporter(say: Say) -> Callable[[int, dict[str, float]], None]:
    return lambda step, values: say(f"step {step}: " + ", ".join(f"{k} {v:.3f}" for k, v in values.items()))
