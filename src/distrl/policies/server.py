"""Batched inference, one policy for many devices: prompts that arrive during a batch go into the next one."""

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

    New weights are swapped in between two batches, so that no decision mixes versions and no device waits for them.
    A batch that is not full is delayed until its first prompt is `wait_s` old.
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
        self._turn = asyncio.Lock()  # FIFO: waiting weights are swapped in right after the current batch
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
        """Swap in new weights as soon as no batch is being computed. Raises `CorruptData` and keeps the old ones.

        With an executor they are prepared in another thread while devices go on acting on the old ones.
        """
        if self._executor is None or not isinstance(self.policy, Staging):
            await self._compute(self.policy.load, weights)
            return
        swap_in = await in_background(partial(self.policy.stage, weights))
        await self._compute(lambda _: swap_in(), None)

    def known_features(self, digests: Sequence[str]) -> Features:
        """Does not wait for the current batch."""
        return self.policy.known_features(digests)

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(0)  # includes every device that is ready now in the first batch
            while self._waiting:
                await self._fill()
                batch, self._waiting = self._waiting[: self._batch_size], self._waiting[self._batch_size :]
                await self._answer(batch)
        finally:
            self._task = None

    async def _fill(self) -> None:
        """Wait for a full batch, until the first prompt is `wait_s` old."""
        remaining_s = self._waiting[0].asked_at + self._wait_s - asyncio.get_running_loop().time()
        if remaining_s <= 0 or len(self._waiting) >= self._batch_size:
            return
        self._full.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._full.wait(), remaining_s)

    async def _answer(self, batch: list[PendingPrompt]) -> None:
        wanted = [pending for pending in batch if not pending.answer.done()]
        if not wanted:
            return
        try:
            decisions = await self._compute(self.policy.act, [pending.prompt for pending in wanted])
        except Exception as error:  # passed on to every waiting device, so that none hangs
            for pending in wanted:
                if not pending.answer.done():
                    pending.answer.set_exception(error)
            return
        self.batches += 1
        self.decisions += len(decisions)
        for pending, decision in zip(wanted, decisions, strict=True):
            if not pending.answer.done():
                pending.answer.set_result(decision)

    async def _compute(self, function: Callable[[Any], Any], argument: Any) -> Any:
        async with self._turn:
            if self._executor is None:
                return function(argument)
            return await asyncio.get_running_loop().run_in_executor(self._executor, function, argument)
