"""The VLM judge: asks a vision-language model, with retries, and accepts only a well-formed verdict."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

from distrl.backoff import Backoff
from distrl.config import JudgeConfig
from distrl.errors import BadVerdict, CannotJudge, ConfigError, JudgeRefused, JudgeTrouble
from distrl.judges.rules import unfinished
from distrl.judges.settings import ModelSettings
from distrl.judges.vlm.api_key import ApiKey
from distrl.judges.vlm.cache import VerdictCache
from distrl.judges.vlm.circuit_breaker import CircuitBreaker
from distrl.judges.vlm.counters import JudgeCounters
from distrl.judges.vlm.endpoint import Endpoint, HttpEndpoint
from distrl.judges.vlm.prompt import JudgeRequest, build_request
from distrl.judges.vlm.reply import Verdict, parse_verdict, plain
from distrl.types import Outcome, Task, Trajectory, Tree

REASON_PREFIX = "vlm: "
"""Prefix of every reason, so that a stored outcome shows which judge gave it."""
LONGEST_REASON = 300
FIRST_RETRY_S, LAST_RETRY_S = 0.5, 30.0
"""Delays before the first retry and, doubled each time, at most."""


def loop_time() -> float:
    return asyncio.get_running_loop().time()


class VlmJudge:
    """Success: the agent declared the task done, and the model says that the screenshots show it.

    Without a verdict it raises `CannotJudge`: a request is tried `attempts` times within `give_up_s`, and not at all
    while the circuit breaker is open. A refusal (`JudgeRefused`) is not retried.
    """

    def __init__(
        self,
        config: ModelSettings,
        endpoint: Endpoint,
        key: ApiKey,
        backoff: Backoff,
        *,
        now: Callable[[], float] = loop_time,
    ) -> None:
        self.config = config
        self.counters = JudgeCounters()
        self.breaker = CircuitBreaker(config.breaker_failures, config.breaker_open_s, now)
        self._endpoint = endpoint
        self._key = key
        self._backoff = backoff
        self._cache = VerdictCache(config.cache)
        self._concurrency = asyncio.Semaphore(config.concurrency)

    @classmethod
    def open(cls, config: JudgeConfig, seed: int = 0) -> VlmJudge:
        """The judge of a config, with its API key from the environment. Raises `ConfigError`."""
        if not isinstance(config, ModelSettings) or not config.model:
            raise ConfigError(
                "No model is set to judge outcomes. With judge.kind=vlm or chain, set judge.model, and judge.url for "
                "its endpoint."
            )
        key = ApiKey.from_environment(config)
        backoff = Backoff(FIRST_RETRY_S, LAST_RETRY_S, random.Random(seed))
        return cls(config, HttpEndpoint(config.url, key, config.timeout_s), key, backoff)

    async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
        last = trajectory.steps[-1].decision.action if trajectory.steps else None
        if reason := unfinished(last):
            return Outcome("failure", reason)
        question = build_request(self.config, task, trajectory)
        verdict = await self._cache.get(question.digest)
        if verdict is None:
            verdict = await self._with_deadline(question)
            await self._cache.put(question.digest, verdict)
        else:
            self.counters.cached += 1
        return Outcome("success" if verdict.success else "failure", f"{REASON_PREFIX}{verdict.reason}")

    async def close(self) -> None:
        await self._endpoint.close()

    def summary(self) -> Tree:
        """Requests, retries, tokens and cost so far."""
        return self.counters.summary(self.config.price_in, self.config.price_out)

    async def _with_deadline(self, question: JudgeRequest) -> Verdict:
        try:
            async with asyncio.timeout(self.config.give_up_s), self._concurrency:
                return await self._with_retries(question)
        except TimeoutError:
            self.counters.given_up += 1
            raise CannotJudge(
                f"The judge at {self.config.url} gave no verdict within {self.config.give_up_s:g} s (its circuit "
                f"breaker is {self.breaker.state}). Check that it answers, or raise judge.give_up_s."
            ) from None
        except CannotJudge:
            self.counters.given_up += 1
            raise

    async def _with_retries(self, question: JudgeRequest) -> Verdict:
        problem: JudgeTrouble | BadVerdict = JudgeTrouble("it was not asked")
        for attempt in range(self.config.attempts):
            if attempt:
                self.counters.retried += 1
                wanted_s = problem.retry_after_s if isinstance(problem, JudgeTrouble) else 0.0
                await asyncio.sleep(self._backoff.delay_s(attempt, wanted_s))
            await self.breaker.admit()
            try:
                return await self._attempt(question.with_reminder() if isinstance(problem, BadVerdict) else question)
            except (JudgeTrouble, BadVerdict) as error:
                problem = error
        raise CannotJudge(
            f"The judge at {self.config.url} gave no verdict in {self.config.attempts} attempts; the last time: "
            f"{problem}. Check that judge.model follows the schema, or raise judge.attempts."
        )

    async def _attempt(self, question: JudgeRequest) -> Verdict:
        self.counters.asked += 1
        try:
            reply = await self._endpoint.complete(question.body)
        except (JudgeTrouble, JudgeRefused):
            self.breaker.failed()
            raise
        except BadVerdict:
            self.breaker.succeeded()  # the endpoint works; one trajectory without a verdict must not open the breaker
            raise
        except BaseException:  # cancelled before there was an answer: no evidence about the endpoint
            self.breaker.abandoned()
            raise
        self.breaker.succeeded()
        self.counters.add(reply)
        verdict = parse_verdict(reply.content)
        return Verdict(verdict.success, plain(self._key.redact(verdict.reason), LONGEST_REASON))
