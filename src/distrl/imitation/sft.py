"""How the pocket model's weights are made: read first, then imitate demonstrations of the train split.

The warm start is meant to be good enough to succeed now and then, and no better: reinforcement learning does the rest.
"""

from __future__ import annotations

import asyncio
import copy
import json
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from transformers.utils.logging import disable_progress_bar

from distrl.config import PolicyConfig
from distrl.devices.sim.device import SimPhone
from distrl.errors import UnknownName
from distrl.evaluation.statistics import wilson
from distrl.imitation.examples import ExampleWriter, MakePages, TokenizedPage, demonstration, frequent_words, to_arrays
from distrl.imitation.random_pages import random_page, walked_pages
from distrl.imitation.trainer import ExampleArrays, ImitationTrainer, Schedule
from distrl.judges.rules import RuleJudge
from distrl.policies.inputs import PromptEncoder
from distrl.policies.models import model_folder, open_model, torch_device
from distrl.policies.pocket.build import build_model, build_processor
from distrl.policies.server import PolicyServer
from distrl.policies.vlm import VlmPolicy
from distrl.tasks.base import load_suite
from distrl.types import Task
from distrl.worker.episode import Episode, EpisodeLimits

Say = Callable[[str], None]


FOCUS_SEED = 500_000
READING_SEED = 100_000
"""Added to a set's seed: none of its tasks or screens is another set's."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Amounts; with much smaller ones the path works, and nothing is learned."""

    suites: tuple[str, ...] = ("general", "webshop")
    """Whose words the tokenizer knows."""
    lexicon_phones: int = 800
    read_sets: int = 16
    """How often the screens to read are made anew: what is never seen twice cannot be remembered, and must be read."""
    babel: int = 20_000
    """Pages of random words on random widgets per set."""
    walks: int = 1_000
    """Phones walked through per set, four screens each."""
    read_steps: int = 12_000
    """Over all sets."""
    read_batch: int = 256
    unseen: int = 400
    """Pages of each kind that are never learned from, to say how well such are read."""
    imitated: tuple[str, ...] = ("general", "webshop")
    """Suites whose training tasks are demonstrated."""
    sets: int = 8
    """How often everything below is made anew."""
    demonstrations: int = 2_500
    """Training tasks shown per suite and set."""
    focus: tuple[str, ...] = ()
    """Templates, by the beginning of their name, that are shown beside the others once more: those it cannot do yet."""
    focused: int = 0
    """Training tasks of those per set."""
    slips: float = 0.1
    """Share of the demonstrated steps that show something else which the screen offers: the start explores."""
    quoted_babel: int = 8_000
    quoted_walks: int = 500
    """Pages and phones looked at again beside the demonstrations, now also to write down what stands there."""
    imitate_steps: int = 12_000
    """Over all sets."""
    imitate_batch: int = 256
    imitate_rate: float = 1e-3
    imitate_vision: bool = True
    """Let the vision tower learn on; frozen, it is asked once per screen, which is what a CPU can afford."""
    history: int = 3
    episodes: int = 128
    """Held-out tasks per suite and split, to say how good the result is."""
    seed: int = 0
    processes: int = 1
    device: str = "auto"


def make_pocket(folder: Path, recipe: Recipe, say: Say, start: Path | None = None) -> dict[str, Any]:
    """Make the weights, write the model folder with its card's figures, and return those.

    `start` is a model to go on from, with its own words: a reader that another call left, say, and `read_steps=0`.
    """
    _check_focus(recipe)
    model, processor = _new(recipe, say) if start is None else open_model(model_folder(start))
    words = sorted(w for w in processor.tokenizer.get_vocab() if w.isalnum() and w == w.lower() and len(w) > 1)
    with _writer(processor, recipe) as writer:
        # Everything is asked for at once: imitation's lessons are written while the model learns to read.
        screens = [writer.begin(_screens(words, recipe, n)) for n in range(recipe.read_sets) if recipe.read_steps]
        unseen = {kind: writer.begin(jobs) for kind, jobs in _unseen(words, recipe).items()}
        sets = [writer.begin(_imitated(words, recipe, n)) for n in range(recipe.sets) if recipe.imitate_steps]
        teacher = _teacher(model, processor, recipe)
        reader = folder.with_name(f"{folder.name}-reader")  # kept: imitation can be tried again from it
        _teach(teacher, "reading", _reading(recipe), screens, partial(save, model, processor, reader), say)
        for kind, written in unseen.items():
            right = teacher.examine(to_arrays(written))
            say(f"on unseen {kind}: {right['act']:.1%} of the actions and {right['read']:.1%} of the cells are right")
        _teach(teacher, "imitating", _imitation(recipe), sets, partial(save, model, processor, folder), say)
        save(model, processor, folder)
    return graded(folder, recipe, say)


def _reading(recipe: Recipe) -> Schedule:
    """Screens are read, what one is told to is tapped, what is not there is scrolled for."""
    return Schedule(recipe.read_steps, recipe.read_batch, sets=recipe.read_sets)


def _imitation(recipe: Recipe) -> Schedule:
    """Demonstrations of training tasks, among examples of reading and of writing down what was read."""
    return Schedule(
        recipe.imitate_steps,
        recipe.imitate_batch,
        recipe.imitate_rate,
        warmup=50,
        train_vision=recipe.imitate_vision,
        sets=recipe.sets,
    )


def _teach(
    teacher: ImitationTrainer,
    what: str,
    schedule: Schedule,
    sets: Sequence[Iterator[TokenizedPage]],
    keep: Callable[[], None],
    say: Say,
) -> None:
    """Along the schedule. What was learned is kept after every set: a call that is cut short leaves a model."""
    if sets:
        _timed(say, what, lambda: teacher.teach(_made_ahead(sets, keep, say), schedule, _reporter(say)))


def _new(recipe: Recipe, say: Say) -> tuple[Any, Any]:
    words = _timed(say, "looking for words", lambda: frequent_words(recipe.suites, recipe.lexicon_phones, recipe.seed))
    say(f"lexicon: {len(words)} words")
    processor = build_processor(words)
    return build_model(processor, seed=recipe.seed), processor


def _screens(words: Sequence[str], recipe: Recipe, number: int) -> Iterator[MakePages]:
    return _looks(words, recipe.babel, recipe.walks, READING_SEED + 1_000 * recipe.seed + number)


def _unseen(words: Sequence[str], recipe: Recipe) -> dict[str, Iterator[MakePages]]:
    seed = READING_SEED + 1_000 * recipe.seed + recipe.read_sets
    return {
        "pages of random words": _looks(words, recipe.unseen, 0, seed),
        "pages of apps": _looks(words, 0, recipe.unseen // 4, seed),
    }


def _imitated(words: Sequence[str], recipe: Recipe, number: int) -> Iterator[MakePages]:
    """Made when they are asked for: thousands of tasks take a while."""
    seed = 1_000 * recipe.seed + number
    for suite in recipe.imitated:
        for task in load_suite(suite).tasks("train", recipe.demonstrations, seed):
            yield partial(demonstration, task, recipe.history, recipe.slips)
    for task in _focused(recipe, seed):
        yield partial(demonstration, task, recipe.history, recipe.slips)
    yield from _looks(words, recipe.quoted_babel, recipe.quoted_walks, seed, quotes=2)


def _focused(recipe: Recipe, seed: int) -> list[Task]:
    """More tasks of the templates in focus, other ones than `demonstrations` brings."""
    named = {suite: [n for n in load_suite(suite).templates if n.startswith(recipe.focus)] for suite in recipe.imitated}
    suites = [load_suite(suite, names) for suite, names in named.items() if names]
    return [task for suite in suites for task in suite.tasks("train", recipe.focused // len(suites), FOCUS_SEED + seed)]


def _check_focus(recipe: Recipe) -> None:
    """Raises `UnknownName`."""
    known = [name for suite in recipe.imitated for name in load_suite(suite).templates]
    for wanted in recipe.focus:
        if not any(name.startswith(wanted) for name in known):
            raise UnknownName("template", wanted, known)


def _looks(words: Sequence[str], pages: int, walks: int, seed: int, quotes: int = 0) -> Iterator[MakePages]:
    first = 10_000_000 * seed
    yield from (partial(random_page, words, quotes, first + n) for n in range(pages))
    yield from (partial(walked_pages, words, quotes, first + n) for n in range(walks))


def _made_ahead(sets: Sequence[Iterator[TokenizedPage]], keep: Callable[[], None], say: Say) -> Iterator[ExampleArrays]:
    """Each set as lessons, gathered while its predecessor is learned from."""
    for lessons in _ahead(lambda n: to_arrays(sets[n]), len(sets)):
        say(f"a new set: {len(lessons.pixels)} screens, {len(lessons.screen)} examples")
        yield lessons
        keep()


def _ahead(make: Callable[[int], ExampleArrays], count: int) -> Iterator[ExampleArrays]:
    """`make(0)`, `make(1)` …, each made while its predecessor is in use."""
    with ThreadPoolExecutor(1) as background:
        following = background.submit(make, 0)
        for n in range(count):
            lessons = following.result()
            if n + 1 < count:
                following = background.submit(make, n + 1)
            yield lessons


def _writer(processor: Any, recipe: Recipe) -> ExampleWriter:
    return ExampleWriter(PromptEncoder(processor, processor.tokenizer.image_token_id, instruct=False), recipe.processes)


def _teacher(model: Any, processor: Any, recipe: Recipe) -> ImitationTrainer:
    device = torch_device(recipe.device)
    return ImitationTrainer(model, pad_id=processor.tokenizer.pad_token_id, device=device, seed=recipe.seed)


def save(model: Any, processor: Any, folder: Path) -> None:
    """Half precision on disk: the weights ship with the package."""
    disable_progress_bar()  # after every set it would be said again that one file of one is written
    copy.deepcopy(model).to("cpu", torch.float16).save_pretrained(folder)
    processor.save_pretrained(folder)


def grade(policy: VlmPolicy, tasks: Sequence[Task], *, devices: int = 64, history: int = 3) -> list[bool]:
    """Play the tasks, many at a time, and say which succeeded."""
    return asyncio.run(_play_all(policy, tasks, devices, history))


async def _play_all(policy: VlmPolicy, tasks: Sequence[Task], devices: int, history: int) -> list[bool]:
    server = PolicyServer(policy, batch_size=devices)
    limits = EpisodeLimits(command_s=600.0, episode_s=3600.0, history=history)
    free = asyncio.Semaphore(devices)

    async def play(task: Task) -> bool:
        async with free:
            phone = SimPhone("sim://phone")
            episode = Episode(phone, server, RuleJudge(), limits, new_id=lambda: str(uuid.uuid4()), now=time.time)
            return (await episode.play(task)).outcome.success

    return list(await asyncio.gather(*(play(task) for task in tasks)))


def graded(folder: Path, recipe: Recipe, say: Say) -> dict[str, Any]:
    policy = VlmPolicy.load_model(PolicyConfig(model=str(folder), device=recipe.device), seed=recipe.seed)
    results: dict[str, Any] = {
        "recipe": asdict(recipe),
        "parameters": sum(p.numel() for p in policy.model.parameters()),
    }
    for suite in recipe.imitated:
        for split in ("test-instances", "test-templates", "test-apps"):
            for temperature in (1.0, 0.0):
                policy.temperature = temperature
                wins = grade(policy, load_suite(suite).tasks(split, recipe.episodes, 4))
                rate, (low, high) = sum(wins) / len(wins), wilson(sum(wins), len(wins))
                results[f"{suite}/{split}/temperature {temperature:g}"] = [rate, low, high]
                say(f"{suite} {split} at temperature {temperature:g}: {rate:.3f} ({low:.3f}–{high:.3f})")
    (folder / "made.json").write_text(json.dumps(results, indent=1))
    return results


def _timed(say: Say, what: str, work: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    result = work()
    say(f"{what}: {time.perf_counter() - began:.0f} s")
    return result


def _reporter(say: Say) -> Callable[[int, dict[str, float]], None]:
    return lambda step, values: say(f"step {step}: " + ", ".join(f"{k} {v:.3f}" for k, v in values.items()))
