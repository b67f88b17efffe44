"""One policy for many devices: whoever asks while a batch is being computed is in the next one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

from distrl.background import in_background
from distrl.policies.base import Policy, Staging
from distrl.types import Decision, Features, Prompt, VersionedWeights


@dataclass(frozen=True, slots=True)
class PendingPrompt:
    prompt: Prompt
    answer: asyncio.Future[Decision]
    asked_at: float
    """On the loop's clock."""


class PolicyServer:
    """Batches prompts. Without an executor it computes inline (serial, deterministic); with one, in its thread.

    New weights are taken between two batches, so that no decision mixes versions and no device ever waits for them.
    A batch that is not full waits until its first prompt is `wait_s` old.
    """

    def __init__(
        self, policy: Policy, *, batch_size: int, wait_s: float = 0.0, executor: Executor | None = None
    ) -> None:
        self.policy = policy
        self._batch_size = batch_size
        self._wait_s = wait_s
        self._executor = executor
        self._waiting: list[PendingPrompt] = []
        self._full = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()  # fair: weights that wait come right after the batch under way
        self.batches = 0
        self.decisions = 0

    @property
    def version(self) -> int:
        return self.policy.version

    async def act(self, prompt: Prompt) -> Decision:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Decision] = loop.create_future()
        self._waiting.append(PendingPrompt(prompt, answer, loop.time()))
        if len(self._waiting) >= self._batch_size:
            self._full.set()
        if self._task is None:
            self._task = asyncio.create_task(self._serve())
        return await answer

    async def load(self, weights: VersionedWeights) -> None:
        """Take new weights as soon as no batch is being computed. Raises `CorruptData` and keeps the old ones.

        Beside an executor they are made ready in another thread while devices go on acting on the old ones.
        """
        if self._executor is None or not isinstance(self.policy, Staging):
            await self._compute(self.policy.load, weights)
            return
        put_in_place = await in_background(partial(self.policy.stage, weights))
        await self._compute(lambda _: put_in_place(), None)

    def known_features(self, digests: Sequence[str]) -> Features:
        """Does not wait for the batch under way."""
        return self.policy.known_features(digests)

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(0)  # lets every device that is ready now into the first batch
            while self._waiting:
                await self._fill()
                batch, self._waiting = self._waiting[: self._batch_size], self._waiting[self._batch_size :]
                await self._answer(batch)
        finally:
            self._task = None

    async def _fill(self) -> None:
        """Let others into the batch, as long as its first prompt can bear it."""
        remaining_s = self._waiting[0].asked_at + self._wait_s - asyncio.get_running_loop().time()
        if remaining_s <= 0 or len(self._waiting) >= self._batch_size:
            return
        self._full.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._full.wait(), remaining_s)

    async def _answer(self, batch: list[PendingPrompt]) -> None:
        wanted = [question for question in batch if not question.answer.done()]
        if not wanted:
            return
        try:
            decisions = await self._compute(self.policy.act, [question.prompt for question in wanted])
        except Exception as error:  # every device that waits must hear of it; none may hang
            for question in wanted:
                if not question.answer.done():
                    question.answer.set_exception(error)
            return
        self.batches += 1
        self.decisions += len(decisions)
        for question, decision in zip(wanted, decisions, strict=True):
            if not question.answer.done():
                question.answer.set_result(decision)

    async def _compute(self, function: Callable[[Any], Any], argument: Any) -> Any:
        async with self._turn:
            if self._executor is None:
                return function(argument)
            return await asyncio.get_running_loop().run_in_executor(self._executor, function, argument)
