"""The judge that asks a vision-language model, patiently, and takes nothing but a verdict for an answer."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from distrl.config import JudgeConfig
from distrl.errors import BadVerdict, CannotJudge, ConfigError, JudgeRefused, JudgeTrouble
from distrl.judges.rules import unfinished
from distrl.judges.settings import ModelSettings
from distrl.judges.vlm.backoff import Backoff
from distrl.judges.vlm.breaker import Breaker
from distrl.judges.vlm.cache import VerdictCache
from distrl.judges.vlm.counters import Counters
from distrl.judges.vlm.endpoint import Endpoint, HttpEndpoint
from distrl.judges.vlm.prompt import Question, ask
from distrl.judges.vlm.reply import Verdict, parse_verdict, plain
from distrl.judges.vlm.secret import Key
from distrl.types import Outcome, Task, Trajectory, Tree

SIGNED = "vlm: "
"""Every reason begins so: an outcome shows for ever who gave it."""
LONGEST_REASON = 300


def loop_time() -> float:
    return asyncio.get_running_loop().time()


class VlmJudge:
    """Success is: the agent itself said it was done, and the model says that the screenshots show it.

    Whatever is not a verdict ends in `CannotJudge`: the endpoint is asked `attempts` times within `give_up_s`, and not
    at all while the breaker is open. An endpoint that refuses is not asked twice.
    """

    def __init__(
        self,
        config: ModelSettings,
        endpoint: Endpoint,
        key: Key,
        backoff: Backoff,
        *,
        now: Callable[[], float] = loop_time,
    ) -> None:
        self.config = config
        self.counters = Counters()
        self.breaker = Breaker(config.breaker_failures, config.breaker_open_s, now)
        self._endpoint = endpoint
        self._key = key
        self._backoff = backoff
        self._cache = VerdictCache(config.cache)
        self._turns = asyncio.Semaphore(config.concurrency)

    @classmethod
    def open(cls, config: JudgeConfig, seed: int = 0) -> VlmJudge:
        """The judge that a config names, its key taken from the environment. Raises `ConfigError`."""
        if not isinstance(config, ModelSettings) or not config.model:
            raise ConfigError(
                "There is no model to ask for outcomes. With judge.kind=vlm or chain, set judge.model, and judge.url "
                "for its endpoint."
            )
        key = Key.from_environment(config)
        return cls(config, HttpEndpoint(config.url, key, config.timeout_s), key, Backoff(random.Random(seed)))

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        last = trajectory.steps[-1].decision.action if trajectory.steps else None
        if reason := unfinished(last):
            return Outcome("failure", reason)
        question = ask(self.config, task, trajectory)
        verdict = await self._cache.get(question.digest)
        if verdict is None:
            verdict = await self._in_time(question)
            await self._cache.put(question.digest, verdict)
        else:
            self.counters.cached += 1
        return Outcome("success" if verdict.success else "failure", f"{SIGNED}{verdict.reason}")

    async def close(self) -> None:
        await self._endpoint.close()

    def summary(self) -> Tree:
        """What it was asked and what that cost."""
        return self.counters.summary(self.config.price_in, self.config.price_out)

    async def _in_time(self, question: Question) -> Verdict:
        try:
            async with asyncio.timeout(self.config.give_up_s), self._turns:
                return await self._insist(question)
        except TimeoutError:
            self.counters.given_up += 1
            raise CannotJudge(
                f"The judge at {self.config.url} gave no verdict within {self.config.give_up_s:g} s (its circuit "
                f"breaker is {self.breaker.state}). See that it answers, or raise judge.give_up_s."
            ) from None
        except CannotJudge:
            self.counters.given_up += 1
            raise

    async def _insist(self, question: Question) -> Verdict:
        problem: JudgeTrouble | BadVerdict = JudgeTrouble("it was not asked")
        for attempt in range(self.config.attempts):
            if attempt:
                self.counters.retried += 1
                wanted_s = problem.retry_after_s if isinstance(problem, JudgeTrouble) else 0.0
                await asyncio.sleep(self._backoff.delay_s(attempt, wanted_s))
            await self.breaker.admit()
            try:
                return await self._once(question.reminded() if isinstance(problem, BadVerdict) else question)
            except (JudgeTrouble, BadVerdict) as error:
                problem = error
        raise CannotJudge(
            f"The judge at {self.config.url} gave no verdict in {self.config.attempts} attempts; the last time: "
            f"{problem}. See that judge.model follows the schema, or raise judge.attempts."
        )

    async def _once(self, question: Question) -> Verdict:
        self.counters.asked += 1
        try:
            reply = await self._endpoint.complete(question.body)
        except (JudgeTrouble, JudgeRefused):
            self.breaker.failed()
            raise
        except BadVerdict:
            self.breaker.succeeded()  # it answers; one odd trajectory must not shut it off for all others
            raise
        except BaseException:  # cancelled before there was an answer: says nothing about the endpoint
            self.breaker.abandoned()
            raise
        self.breaker.succeeded()
        self.counters.add(reply)
        verdict = parse_verdict(reply.content)
        return Verdict(verdict.success, plain(self._key.redact(verdict.reason), LONGEST_REASON))
