"""`distrl sft`: makes the pocket model, first by learning to read screens, then by imitating training tasks.

The model is a warm start for reinforcement learning: it only has to succeed now and then.
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
from distrl.imitation.random_pages import app_pages, random_word_page
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
"""Seed offsets, so that no two sets share tasks or screens."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Amounts of data and training steps. With tiny amounts everything runs, but nothing is learned."""

    suites: tuple[str, ...] = ("general", "webshop")
    """Suites whose words become tokens."""
    lexicon_phones: int = 800
    read_sets: int = 16
    """Sets of screens to read, each new: a screen that is not repeated cannot be memorised."""
    babel: int = 20_000
    """Pages of random words on random widgets per set."""
    walks: int = 1_000
    """Random walks through the apps of a phone per set, four screens each."""
    read_steps: int = 12_000
    """Over all sets."""
    read_batch: int = 256
    unseen: int = 400
    """Pages of each kind held out of training, to measure reading accuracy."""
    imitated: tuple[str, ...] = ("general", "webshop")
    """Suites whose training tasks are demonstrated."""
    sets: int = 8
    """Sets of the examples below, each new."""
    demonstrations: int = 2_500
    """Training tasks per suite and set."""
    focus: tuple[str, ...] = ()
    """Templates, by prefix of their name, of which more tasks are demonstrated."""
    focused: int = 0
    """Additional training tasks of these templates per set."""
    slips: float = 0.1
    """Share of the demonstrated steps with a random action, so that the model explores."""
    quoted_babel: int = 8_000
    quoted_walks: int = 500
    """Random pages and walks beside the demonstrations, with answer examples too."""
    imitate_steps: int = 12_000
    """Over all sets."""
    imitate_batch: int = 256
    imitate_rate: float = 1e-3
    imitate_vision: bool = True
    """Train the vision tower too. Frozen, it is run once per screen, which suits a CPU."""
    history: int = 3
    episodes: int = 128
    """Held-out tasks per suite and split for the final evaluation."""
    seed: int = 0
    processes: int = 1
    device: str = "auto"


def make_pocket(folder: Path, recipe: Recipe, say: Say, start: Path | None = None) -> dict[str, Any]:
    """Make the weights, write the model folder with its card's figures, and return those.

    `start`: a model to continue from, with its own tokenizer, such as the `-reader` of an earlier call.
    """
    _check_focus(recipe)
    model, processor = _new_model(recipe, say) if start is None else open_model(model_folder(start))
    words = sorted(w for w in processor.tokenizer.get_vocab() if w.isalnum() and w == w.lower() and len(w) > 1)
    with _writer(processor, recipe) as writer:
        # Submitted all at once: the imitation examples are made while the model learns to read.
        read_sets = recipe.read_sets if recipe.read_steps else 0
        screens = [writer.submit(_reading_pages(words, recipe, n)) for n in range(read_sets)]
        unseen = {kind: writer.submit(makers) for kind, makers in _unseen_pages(words, recipe).items()}
        sets = [writer.submit(_imitation_pages(words, recipe, n)) for n in range(recipe.sets) if recipe.imitate_steps]
        trainer = _trainer(model, processor, recipe)
        reader = folder.with_name(f"{folder.name}-reader")  # kept, so that imitation can be repeated from it
        _train(trainer, "reading", _reading_schedule(recipe), screens, partial(save, model, processor, reader), say)
        for kind, tokenized in unseen.items():
            share = trainer.accuracy(to_arrays(tokenized))
            say(f"on unseen {kind}: {share['act']:.1%} of the actions and {share['read']:.1%} of the cells are right")
        _train(trainer, "imitating", _imitation_schedule(recipe), sets, partial(save, model, processor, folder), say)
        save(model, processor, folder)
    return evaluate_model(folder, recipe, say)


def _reading_schedule(recipe: Recipe) -> Schedule:
    """Reading screens, tapping named items, scrolling for absent ones."""
    return Schedule(recipe.read_steps, recipe.read_batch, sets=recipe.read_sets)


def _imitation_schedule(recipe: Recipe) -> Schedule:
    """Demonstrations of training tasks, mixed with reading and answer examples."""
    return Schedule(
        recipe.imitate_steps,
        recipe.imitate_batch,
        recipe.imitate_rate,
        warmup=50,
        train_vision=recipe.imitate_vision,
        sets=recipe.sets,
    )


def _train(
    trainer: ImitationTrainer,
    what: str,
    schedule: Schedule,
    sets: Sequence[Iterator[TokenizedPage]],
    save_weights: Callable[[], None],
    say: Say,
) -> None:
    """Train along the schedule; saves the model after every set, for the case of an interruption."""
    if sets:
        _timed(say, what, lambda: trainer.train(_prefetched(sets, save_weights, say), schedule, _reporter(say)))


def _new_model(recipe: Recipe, say: Say) -> tuple[Any, Any]:
    words = _timed(say, "looking for words", lambda: frequent_words(recipe.suites, recipe.lexicon_phones, recipe.seed))
    say(f"lexicon: {len(words)} words")
    processor = build_processor(words)
    return build_model(processor, seed=recipe.seed), processor


def _reading_pages(words: Sequence[str], recipe: Recipe, number: int) -> Iterator[MakePages]:
    return _page_makers(words, recipe.babel, recipe.walks, READING_SEED + 1_000 * recipe.seed + number)


def _unseen_pages(words: Sequence[str], recipe: Recipe) -> dict[str, Iterator[MakePages]]:
    seed = READING_SEED + 1_000 * recipe.seed + recipe.read_sets
    return {
        "pages of random words": _page_makers(words, recipe.unseen, 0, seed),
        "pages of apps": _page_makers(words, 0, recipe.unseen // 4, seed),
    }


def _imitation_pages(words: Sequence[str], recipe: Recipe, number: int) -> Iterator[MakePages]:
    """Lazily, since thousands of tasks take a while to make."""
    seed = 1_000 * recipe.seed + number
    for suite in recipe.imitated:
        for task in load_suite(suite).tasks("train", recipe.demonstrations, seed):
            yield partial(demonstration, task, recipe.history, recipe.slips)
    for task in _focus_tasks(recipe, seed):
        yield partial(demonstration, task, recipe.history, recipe.slips)
    yield from _page_makers(words, recipe.quoted_babel, recipe.quoted_walks, seed, quotes=2)


def _focus_tasks(recipe: Recipe, seed: int) -> list[Task]:
    """More tasks of the templates in focus, distinct from those of `demonstrations`."""
    named = {suite: [n for n in load_suite(suite).templates if n.startswith(recipe.focus)] for suite in recipe.imitated}
    suites = [load_suite(suite, names) for suite, names in named.items() if names]
    return [task for suite in suites for task in suite.tasks("train", recipe.focused // len(suites), FOCUS_SEED + seed)]


def _check_focus(recipe: Recipe) -> None:
    """Raises `UnknownName`."""
    known = [name for suite in recipe.imitated for name in load_suite(suite).templates]
    for wanted in recipe.focus:
        if not any(name.startswith(wanted) for name in known):
            raise UnknownName("template", wanted, known)


def _page_makers(words: Sequence[str], pages: int, walks: int, seed: int, quotes: int = 0) -> Iterator[MakePages]:
    first = 10_000_000 * seed
    yield from (partial(random_word_page, words, quotes, first + n) for n in range(pages))
    yield from (partial(app_pages, words, quotes, first + n) for n in range(walks))


def _prefetched(
    sets: Sequence[Iterator[TokenizedPage]], save_weights: Callable[[], None], say: Say
) -> Iterator[ExampleArrays]:
    """Each set as arrays, made while the previous one is trained on."""
    for examples in _prefetch(lambda n: to_arrays(sets[n]), len(sets)):
        say(f"a new set: {len(examples.pixels)} screens, {len(examples.screen)} examples")
        yield examples
        save_weights()


def _prefetch(make: Callable[[int], ExampleArrays], count: int) -> Iterator[ExampleArrays]:
    """`make(0)`, `make(1)` …, each in a thread while the previous one is in use."""
    with ThreadPoolExecutor(1) as background:
        pending = background.submit(make, 0)
        for n in range(count):
            examples = pending.result()
            if n + 1 < count:
                pending = background.submit(make, n + 1)
            yield examples


def _writer(processor: Any, recipe: Recipe) -> ExampleWriter:
    return ExampleWriter(PromptEncoder(processor, processor.tokenizer.image_token_id, instruct=False), recipe.processes)


def _trainer(model: Any, processor: Any, recipe: Recipe) -> ImitationTrainer:
    device = torch_device(recipe.device)
    return ImitationTrainer(model, pad_id=processor.tokenizer.pad_token_id, device=device, seed=recipe.seed)


def save(model: Any, processor: Any, folder: Path) -> None:
    """Half precision on disk: the weights ship with the package."""
    disable_progress_bar()  # else a progress bar of one file is printed after every set
    copy.deepcopy(model).to("cpu", torch.float16).save_pretrained(folder)
    processor.save_pretrained(folder)


def play_tasks(policy: VlmPolicy, tasks: Sequence[Task], *, devices: int = 64, history: int = 3) -> list[bool]:
    """Play the tasks, `devices` at a time; whether each succeeded."""
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


def evaluate_model(folder: Path, recipe: Recipe, say: Say) -> dict[str, Any]:
    policy = VlmPolicy.load_model(PolicyConfig(model=str(folder), device=recipe.device), seed=recipe.seed)
    results: dict[str, Any] = {
        "recipe": asdict(recipe),
        "parameters": sum(p.numel() for p in policy.model.parameters()),
    }
    for suite in recipe.imitated:
        for split in ("test-instances", "test-templates", "test-apps"):
            for temperature in (1.0, 0.0):
                policy.temperature = temperature
                successes = play_tasks(policy, load_suite(suite).tasks(split, recipe.episodes, 4))
                rate, (low, high) = sum(successes) / len(successes), wilson(sum(successes), len(successes))
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
