"""What the pocket model is taught from: random screens to read, and demonstrations of training tasks to imitate.

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
from distrl.imitation.random_pages import Example, TrainingPage, random_action, walked_pages
from distrl.imitation.trainer import ExampleArrays
from distrl.judges.rules import RuleJudge
from distrl.policies.actions import format_action
from distrl.policies.inputs import PromptEncoder
from distrl.tasks.base import load_suite
from distrl.types import Action, Answer, Prompt, Screen, Task, Type

PROMPT_TOKENS, ACTION_TOKENS, CELL, WORDS_PER_CELL = 136, 16, 32, 6

WORD = re.compile(r"[a-z]+|(?<![0-9])[0-9]{2}(?![0-9])")
"""Of numbers only pairs of digits: a telephone number that is a word of its own says nothing about the next one."""
DECODERS = 4
"""Threads; more would take turns with the model that learns meanwhile."""
TURN_S = 0.0005
"""How long a thread may hold the interpreter while another waits. Python's 5 ms are long for who takes in pages beside
who learns from them, and a set that is late keeps the learner waiting."""

MakePages = Callable[[], list[TrainingPage]]
"""Makes a few pages, in whichever process."""


# --- demonstrations to imitate ------------------------------------------------------------------


def demonstration(task: Task, history: int, slips: float = 0.0) -> list[TrainingPage]:
    """The oracle's solution in lower case, as the pocket model writes; nothing if the judge does not accept it.

    `slips`: the share of steps at which something else that the screen offers is shown instead. Who imitates a
    demonstrator without fault never tries anything, and reinforcement learning lives on what was tried.
    """
    device = _LowerCase("sim://phone?popups=0.03")
    played = asyncio.run(_judged(device, task))
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


async def _judged(device: _LowerCase, task: Task) -> Demonstration | None:
    try:
        played = await play_oracle(device, task)
    except LookupError:  # a pop-up between two touches can lead an oracle astray; the next task makes up for it
        return None
    lowered = Demonstration([(screen, _lower(action)) for screen, action in played.steps], played.last_screen)
    outcome = await RuleJudge().judge(task, as_trajectory(task, lowered), await device.evidence())
    return played if outcome.success and len(played.steps) <= task.max_steps else None


class _LowerCase(SimPhone):
    """A phone on which everything is typed in lower case; it keeps the words of each screen shown."""

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


# --- into arrays --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TokenizedPage:
    """A page in tokens: its image, its cells, and (prompt, action) of each example that is short enough."""

    image: bytes
    cells: npt.NDArray[np.int32]
    rows: tuple[tuple[list[int], list[int]], ...]


class ExampleWriter:
    """Makes pages in many processes, turns them into tokens there, and gathers them into arrays.

    A context: the processes start with it, so that lessons can be written while a model learns from earlier ones. Start
    it before anything computes: what has threads does not survive forking.
    """

    def __init__(self, encoder: PromptEncoder, processes: int) -> None:
        self.encoder = encoder
        self.processes = processes
        self._ids: dict[str, list[int]] = {}
        self._pool: Pool | None = None
        self._turn_s = sys.getswitchinterval()
        # Once here, so that a forked process never calls torch: its threads do not survive forking.
        self._row(Example("", (), ""))

    def __enter__(self) -> ExampleWriter:
        if self.processes > 1:
            _Process.writer = self  # reaches the children by forking
            self._pool = multiprocessing.get_context("fork").Pool(self.processes)
            sys.setswitchinterval(TURN_S)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setswitchinterval(self._turn_s)
        if self._pool is not None:
            self._pool.close()
            self._pool.join()

    def begin(self, jobs: Iterable[MakePages]) -> Iterator[TokenizedPage]:
        """Everything that these jobs teach, in their order. Processes begin with it at once, after what they were
        given before; without any it is written when it is asked for."""
        written = self._pool.imap(_forked, jobs, chunksize=16) if self._pool else map(self.written, jobs)
        return chain.from_iterable(written)

    def written(self, job: MakePages) -> list[TokenizedPage]:
        return [
            TokenizedPage(page.image, self._cells(page.words), tuple(filter(None, map(self._row, page.examples))))
            for page in job()
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


class _Process:
    """What a forked process writes with."""

    writer: ExampleWriter


def _forked(job: MakePages) -> list[TokenizedPage]:
    return _Process.writer.written(job)


def to_arrays(written: Iterable[TokenizedPage]) -> ExampleArrays:
    pages = list(written)
    rows = [(n, row) for n, page in enumerate(pages) for row in page.rows]
    return ExampleArrays(
        pixels=_decoded([page.image for page in pages]),
        cells=np.stack([page.cells for page in pages]),
        screen=np.array([n for n, _ in rows], np.int64),
        prompts=np.stack([_left(prompt, PROMPT_TOKENS) for _, (prompt, _) in rows]),
        actions=np.stack([_right(action, ACTION_TOKENS) for _, (_, action) in rows]),
    )


def frequent_words(suites: Sequence[str], phones: int, seed: int) -> list[str]:
    """The words a phone shows and training goals use, most frequent first: what the tokenizer knows whole."""
    counts: Counter[str] = Counter()
    for n in range(phones):
        for page in walked_pages(["word"], 0, seed * 10_000_000 + n):
            counts.update(piece for word, _, _ in page.words for piece in WORD.findall(word.lower()))
    for suite in suites:
        for task in load_suite(suite).tasks("train", 3000, seed):
            counts.update(WORD.findall(task.goal.lower()))
    return [word for word, count in counts.most_common() if count >= 2]


def _decoded(images: Sequence[bytes]) -> npt.NDArray[np.uint8]:
    pixels = np.empty((len(images), 384, 192, 3), np.uint8)

    def fill(n: int) -> None:
        pixels[n] = np.asarray(Image.open(io.BytesIO(images[n])).convert("RGB"))

    with ThreadPoolExecutor(DECODERS) as pool:
        list(pool.map(fill, range(len(images)), chunksize=256))
    return pixels


def _left(row: list[int], length: int) -> npt.NDArray[np.int32]:
    return np.array([0] * (length - len(row)) + row, np.int32)


def _right(row: list[int], length: int) -> npt.NDArray[np.int32]:
    return np.array(row + [0] * (length - len(row)), np.int32)
