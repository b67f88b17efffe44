"""Training examples for imitation: demonstrations of training tasks, and pages tokenized into arrays.

Nothing here looks at a test split, and no screen of a held-out app is ever drawn.
"""

from __future__ import annotations

import asyncio
import io
import multiprocessing
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from multiprocessing.pool import Pool

import numpy as np
import numpy.typing as npt
from PIL import Image

from distrl.devices.sim.device import SimPhone
from distrl.evaluation.oracle import Demonstration, as_trajectory, play_oracle
from distrl.imitation.random_pages import Example, TrainingPage, app_pages, random_action
from distrl.imitation.trainer import ExampleArrays
from distrl.judges.rules import RuleJudge
from distrl.policies.actions import format_action
from distrl.policies.inputs import PromptEncoder
from distrl.tasks.base import load_suite
from distrl.types import Action, Answer, Prompt, Screen, Task, Type

PROMPT_TOKENS, ACTION_TOKENS, CELL, WORDS_PER_CELL = 136, 16, 32, 6

WORD = re.compile(r"[a-z]+|(?<![0-9])[0-9]{2}(?![0-9])")
"""Of numbers only pairs of digits: a whole telephone number as one token would not generalise."""
DECODER_THREADS = 4
"""More threads would slow down the model that trains meanwhile."""
SWITCH_INTERVAL_S = 0.0005
"""Interpreter switch interval while pages arrive beside training. With the default of 5 ms sets arrive late, and
training waits for them."""

MakePages = Callable[[], list[TrainingPage]]
"""Makes a few pages; picklable, since it runs in a worker process."""


# --- demonstrations to imitate ------------------------------------------------------------------


def demonstration(task: Task, history: int, slips: float = 0.0) -> list[TrainingPage]:
    """The oracle's solution in lower case, as the pocket model writes; empty if the judge rejects it.

    `slips`: share of steps whose example shows a random action instead. A model that imitates a perfect demonstrator
    does not explore, and reinforcement learning needs exploration.
    """
    device = _LowerCasePhone("sim://phone?popups=0.03")
    played = asyncio.run(_accepted(device, task))
    if played is None:
        return []
    rng = random.Random(f"slips/{task.seed}/{task.goal}")
    texts = [format_action(_lower(action)) for _, action in played.steps]
    pages = []
    for i, ((screen, _), words) in enumerate(zip(played.steps, device.words, strict=True)):
        slip = rng.random() < slips
        shown = format_action(random_action(screen.elements, rng)) if slip else texts[i]
        pages.append(
            TrainingPage(screen.image, words, (Example(task.goal, tuple(texts[max(0, i - history) : i]), shown),))
        )
    return pages


async def _accepted(device: _LowerCasePhone, task: Task) -> Demonstration | None:
    try:
        played = await play_oracle(device, task)
    except LookupError:  # a pop-up between two touches can mislead an oracle; skip this task
        return None
    lowered = Demonstration([(screen, _lower(action)) for screen, action in played.steps], played.last_screen)
    outcome = await RuleJudge().judge(task, as_trajectory(task, lowered), await device.evidence())
    return played if outcome.success and len(played.steps) <= task.max_steps else None


class _LowerCasePhone(SimPhone):
    """A phone on which everything is typed in lower case. Records the words of each screen."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.words: list[tuple[tuple[str, int, int], ...]] = []

    async def reset(self, task: Task) -> Screen:
        screen = await super().reset(task)
        self.words = [self._phone.render().words]
        return screen

    async def perform(self, action: Action) -> None:
        await super().perform(_lower(action))
        self.words.append(self._phone.render().words)


def _lower(action: Action) -> Action:
    return replace(action, text=action.text.lower()) if isinstance(action, Type | Answer) else action


# --- to arrays ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TokenizedPage:
    """A tokenized page: image, words per cell, and (prompt, action) of each example that fits."""

    image: bytes
    cells: npt.NDArray[np.int32]
    rows: tuple[tuple[list[int], list[int]], ...]


class ExampleWriter:
    """Makes and tokenizes pages in worker processes, while a model trains on earlier ones.

    A context manager that forks the processes. Enter it before any torch computation: threads do not survive forking.
    """

    def __init__(self, encoder: PromptEncoder, processes: int) -> None:
        self.encoder = encoder
        self.processes = processes
        self._ids: dict[str, list[int]] = {}
        self._pool: Pool | None = None
        self._switch_interval_s = sys.getswitchinterval()
        # Called once before forking, so that no worker initialises torch.
        self._row(Example("", (), ""))

    def __enter__(self) -> ExampleWriter:
        if self.processes > 1:
            _WorkerProcess.writer = self  # inherited by the forked workers
            self._pool = multiprocessing.get_context("fork").Pool(self.processes)
            sys.setswitchinterval(SWITCH_INTERVAL_S)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setswitchinterval(self._switch_interval_s)
        if self._pool is not None:
            self._pool.close()
            self._pool.join()

    def submit(self, makers: Iterable[MakePages]) -> Iterator[TokenizedPage]:
        """Tokenized pages in order. Worker processes start at once, after earlier submissions; without processes
        each page is made when it is consumed."""
        if self._pool is not None:
            return chain.from_iterable(self._pool.imap(_tokenize_in_worker, makers, chunksize=16))
        return chain.from_iterable(map(self.tokenize, makers))

    def tokenize(self, make_pages: MakePages) -> list[TokenizedPage]:
        return [
            TokenizedPage(page.image, self._cells(page.words), tuple(filter(None, map(self._row, page.examples))))
            for page in make_pages()
        ]

    def _row(self, example: Example) -> tuple[list[int], list[int]] | None:
        screen = Screen(b"", 192, 384, digest="-")
        prompt = self.encoder.token_ids(Prompt(example.goal, screen, example.history)).tolist()
        action = [*self.encoder.tokenizer(example.action)["input_ids"], self.encoder.tokenizer.eos_token_id]
        return (prompt, action) if len(prompt) <= PROMPT_TOKENS and len(action) <= ACTION_TOKENS else None

    def _cells(self, words: Sequence[tuple[str, int, int]]) -> npt.NDArray[np.int32]:
        columns = 192 // CELL
        cells = np.full((columns * (384 // CELL), WORDS_PER_CELL), -1, np.int32)
        for word, x, y in words:
            cell = cells[min(max(y, 0), 383) // CELL * columns + min(max(x, 0), 191) // CELL]
            free = np.flatnonzero(cell < 0)
            ids = [i for i in self._word_ids(word) if i not in cell][: len(free)]
            cell[free[: len(ids)]] = ids
        return cells

    def _word_ids(self, word: str) -> list[int]:
        if word not in self._ids:
            self._ids[word] = list(dict.fromkeys(self.encoder.tokenizer(word.lower())["input_ids"]))[:WORDS_PER_CELL]
        return self._ids[word]


class _WorkerProcess:
    """Holds the writer that a forked process inherits."""

    writer: ExampleWriter


def _tokenize_in_worker(make_pages: MakePages) -> list[TokenizedPage]:
    return _WorkerProcess.writer.tokenize(make_pages)


def to_arrays(tokenized: Iterable[TokenizedPage]) -> ExampleArrays:
    pages = list(tokenized)
    rows = [(n, row) for n, page in enumerate(pages) for row in page.rows]
    return ExampleArrays(
        pixels=_decode([page.image for page in pages]),
        cells=np.stack([page.cells for page in pages]),
        screen=np.array([n for n, _ in rows], np.int64),
        prompts=np.stack([_pad_left(prompt, PROMPT_TOKENS) for _, (prompt, _) in rows]),
        actions=np.stack([_pad_right(action, ACTION_TOKENS) for _, (_, action) in rows]),
    )


def frequent_words(suites: Sequence[str], phones: int, seed: int) -> list[str]:
    """Words of screens and training goals, most frequent first: the whole-word tokens of the tokenizer."""
    counts: Counter[str] = Counter()
    for n in range(phones):
        for page in app_pages(["word"], 0, seed * 10_000_000 + n):
            counts.update(piece for word, _, _ in page.words for piece in WORD.findall(word.lower()))
    for suite in suites:
        for task in load_suite(suite).tasks("train", 3000, seed):
            counts.update(WORD.findall(task.goal.lower()))
    return [word for word, count in counts.most_common() if count >= 2]


def _decode(images: Sequence[bytes]) -> npt.NDArray[np.uint8]:
    pixels = np.empty((len(images), 384, 192, 3), np.uint8)

    def fill(n: int) -> None:
        pixels[n] = np.asarray(Image.open(io.BytesIO(images[n])).convert("RGB"))

    with ThreadPoolExecutor(DECODER_THREADS) as pool:
        list(pool.map(fill, range(len(images)), chunksize=256))
    return pixels


def _pad_left(row: list[int], length: int) -> npt.NDArray[np.int32]:
    return np.array([0] * (length - len(row)) + row, np.int32)


def _pad_right(row: list[int], length: int) -> npt.NDArray[np.int32]:
    return np.array(row + [0] * (length - len(row)), np.int32)
