"""One policy for all devices of a worker: whoever asks while a batch is being computed is in the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

from distrl.policies.base import Policy
from distrl.types import Decision, Features, Prompt, VersionedWeights


class PolicyServer:
    """Batches prompts. Without an executor it computes inline (serial, deterministic); with one, in its thread.

    New weights are taken between two batches, so that no decision mixes versions and no device ever waits for them.
    """

    def __init__(self, policy: Policy, *, batch_size: int, executor: Executor | None = None) -> None:
        self.policy = policy
        self._batch_size = batch_size
        self._executor = executor
        self._waiting: list[tuple[Prompt, asyncio.Future[Decision]]] = []
        self._task: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()  # fair: weights that wait come right after the batch under way
        self.batches = 0
        self.decisions = 0

    @property
    def version(self) -> int:
        return self.policy.version

    async def act(self, prompt: Prompt) -> Decision:
        answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._waiting.append((prompt, answer))
        if self._task is None:
            self._task = asyncio.create_task(self._serve())
        return await answer

    async def load(self, weights: VersionedWeights) -> None:
        """Take new weights as soon as no batch is being computed. Raises `CorruptData` and keeps the old ones."""
        await self._compute(self.policy.load, weights)

    def known_features(self, digests: Sequence[str]) -> Features:
        """Does not wait for the batch under way."""
        return self.policy.known_features(digests)

    async def _serve(self) -> None:
        try:
            await asyncio.sleep(0)  # lets every device that is ready now into the first batch
            while self._waiting:
                batch, self._waiting = self._waiting[: self._batch_size], self._waiting[self._batch_size :]
                await self._answer(batch)
        finally:
            self._task = None

    async def _answer(self, batch: list[tuple[Prompt, asyncio.Future[Decision]]]) -> None:
        wanted = [(prompt, answer) for prompt, answer in batch if not answer.done()]
        if not wanted:
            return
        try:
            decisions = await self._compute(self.policy.act, [prompt for prompt, _ in wanted])
        except Exception as error:  # every device that waits must hear of it; none may hang
            for _, answer in wanted:
                if not answer.done():
                    answer.set_exception(error)
            return
        self.batches += 1
        self.decisions += len(decisions)
        for (_, answer), decision in zip(wanted, decisions, strict=True):
            if not answer.done():
                answer.set_result(decision)

    async def _compute(self, function: Callable[[Any], Any], argument: Any) -> Any:
        async with self._turn:
            if self._executor is None:
                return function(argument)
            return await asyncio.get_running_loop().run_in_executor(self._executor, function, argument)
