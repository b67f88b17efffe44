"""The judge with a scripted endpoint, on a virtual clock: no test waits."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest
from films import film

from distrl.backoff import Backoff
from distrl.errors import BadVerdict, CannotJudge, ConfigError, JudgeRefused, JudgeTrouble
from distrl.judges.settings import ModelSettings
from distrl.judges.vlm.api_key import ApiKey
from distrl.judges.vlm.judge import VlmJudge
from distrl.judges.vlm.prompt import REMINDER
from distrl.judges.vlm.reply import Reply
from distrl.runtime.clock import VirtualLoop, run_virtually
from distrl.types import Answer, Impossible, Outcome, Tap, Tree

SECRET = "sk-planted-0123456789"
YES = Reply(json.dumps({"reason": "It is on.", "success": True}), 1000, 20)
NO = Reply(json.dumps({"reason": "It is off.", "success": False}), 1000, 20)


class Scripted:
    """An endpoint that gives these answers in turn, the last one for ever."""

    def __init__(self, *answers: Reply | Exception, takes_s: float = 0.0) -> None:
        self.answers = list(answers)
        self.takes_s = takes_s
        self.bodies: list[Tree] = []
        self.asked_at: list[float] = []
        self.at_once = 0
        self.most_at_once = 0
        self.closed = False

    async def complete(self, body: Tree) -> Reply:
        self.bodies.append(body)
        self.asked_at.append(asyncio.get_running_loop().time())
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.takes_s)
        finally:
            self.at_once -= 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self) -> None:
        self.closed = True


def virtually(story: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    async def main(loop: VirtualLoop) -> Any:
        return await story()

    return run_virtually(main)


def judge_of(endpoint: Scripted, **changes: Any) -> VlmJudge:
    config = ModelSettings.model_validate({"model": "m", "price_in": 2.0, "price_out": 10.0, **changes})
    return VlmJudge(config, endpoint, ApiKey(SECRET), Backoff(1.0, 8.0, random.Random(0)))


def judged(*answers: Reply | Exception, trajectory: Any = None, **changes: Any) -> tuple[Outcome, VlmJudge, Scripted]:
    endpoint = Scripted(*answers)
    judge = judge_of(endpoint, **changes)
    trajectory = trajectory or film(1)
    return virtually(lambda: judge.judge(trajectory.task, trajectory, None)), judge, endpoint


def test_the_models_verdict_is_the_outcome_and_says_who_gave_it():
    assert judged(YES)[0] == Outcome("success", "vlm: It is on.")
    assert judged(NO)[0] == Outcome("failure", "vlm: It is off.")


@pytest.mark.parametrize(("last", "reason"), [(Tap(1, 1), "out of steps"), (Impossible(), "the agent gave up")])
def test_an_episode_not_declared_done_is_a_failure_without_a_request(last, reason):
    outcome, _, endpoint = judged(YES, trajectory=film(1, last))
    assert outcome == Outcome("failure", reason)
    assert endpoint.bodies == []


TROUBLES: Sequence[Exception | Reply] = (
    JudgeTrouble("503: busy"),
    JudgeTrouble("no answer within 60 s"),
    BadVerdict("the model declined"),
    Reply("Status: success"),
    Reply('{"success": true}'),
    Reply('{"success": false, "success": true, "reason": "twice"}'),
)


@pytest.mark.parametrize("trouble", TROUBLES, ids=str)
def test_trouble_is_tried_again_and_the_verdict_after_it_counts(trouble):
    outcome, judge, endpoint = judged(trouble, trouble, NO)
    assert outcome.kind == "failure"
    assert (judge.counters.asked, judge.counters.retried, judge.counters.given_up) == (3, 2, 0)


@pytest.mark.parametrize("trouble", TROUBLES, ids=str)
def test_trouble_that_does_not_end_is_no_outcome(trouble):
    with pytest.raises(CannotJudge, match="in 4 attempts; the last time"):
        judged(trouble, attempts=4)


def test_waits_grow_and_what_the_endpoint_asks_for_is_honoured():
    _, _, endpoint = judged(JudgeTrouble("500"), JudgeTrouble("429", retry_after_s=100.0), JudgeTrouble("500"), YES)
    first, second, third = (
        after - before for before, after in zip(endpoint.asked_at, endpoint.asked_at[1:], strict=False)
    )
    assert 0.5 <= first <= 1.1
    assert 100.0 <= second <= 111.0
    assert 2.0 <= third <= 4.1


def test_a_reply_that_is_no_verdict_is_followed_by_a_reminder_and_trouble_is_not():
    _, _, endpoint = judged(JudgeTrouble("500"), Reply("yes"), YES)
    reminded = [body["messages"][-1]["content"] == REMINDER for body in endpoint.bodies]
    assert reminded == [False, False, True]


def test_an_endpoint_that_refuses_is_not_asked_twice():
    endpoint = Scripted(JudgeRefused("401"))
    judge = judge_of(endpoint)
    with pytest.raises(JudgeRefused):
        virtually(lambda: judge.judge(film(1).task, film(1), None))
    assert len(endpoint.bodies) == 1


def test_an_outcome_that_takes_too_long_is_given_up():
    with pytest.raises(CannotJudge, match="no verdict within 50 s"):
        judged(JudgeTrouble("429", retry_after_s=1000.0), YES, give_up_s=50.0)


def test_the_same_question_is_asked_once_and_a_changed_one_again(tmp_path):
    endpoint = Scripted(YES)
    judge = judge_of(endpoint, cache=str(tmp_path))

    async def story() -> None:
        for number in (1, 1, 2, 1, 2):
            assert (await judge.judge(film(number).task, film(number), None)).success

    virtually(story)
    assert (judge.counters.asked, judge.counters.cached) == (2, 3)
    fresh = Scripted(JudgeRefused("never asked"))
    assert virtually(lambda: judge_of(fresh, cache=str(tmp_path)).judge(film(1).task, film(1), None)).success


def test_only_verdicts_are_kept():
    endpoint = Scripted(JudgeTrouble("500"), YES)
    judge = judge_of(endpoint, attempts=1)

    async def story() -> Outcome:
        with pytest.raises(CannotJudge):
            await judge.judge(film(1).task, film(1), None)
        return await judge.judge(film(1).task, film(1), None)

    assert virtually(story).success


def test_no_more_than_so_many_are_asked_about_at_once():
    endpoint = Scripted(YES, takes_s=5.0)
    judge = judge_of(endpoint, concurrency=3)

    async def story() -> None:
        films = [film(1, Answer(f"{number}")) for number in range(12)]
        await asyncio.gather(*(judge.judge(each.task, each, None) for each in films))

    virtually(story)
    assert len(endpoint.bodies) == 12
    assert endpoint.most_at_once == 3


def test_an_outage_is_waited_out_without_hammering_the_endpoint():
    """Down for five minutes: with the breaker few requests are sent, and every outcome comes in the end."""
    films = [film(1, Answer(f"{number}")) for number in range(40)]

    class Down(Scripted):
        async def complete(self, body: Tree) -> Reply:
            reply = await super().complete(body)
            if asyncio.get_running_loop().time() < 300.0:
                raise JudgeTrouble("503")
            return reply

    endpoint = Down(YES, takes_s=0.1)
    judge = judge_of(endpoint, breaker_failures=5, breaker_open_s=30.0, attempts=6, give_up_s=900.0)

    async def story() -> list[Outcome]:
        return await asyncio.gather(*(judge.judge(each.task, each, None) for each in films))

    assert all(outcome.success for outcome in virtually(story))
    during = [at for at in endpoint.asked_at if at < 300.0]
    assert len(during) < 25
    assert judge.breaker.state == "closed"


def test_one_odd_trajectory_does_not_shut_the_endpoint_off_for_the_others():
    judge = judge_of(Scripted(Reply("garbage")), breaker_failures=2)

    async def story() -> None:
        with pytest.raises(CannotJudge):
            await judge.judge(film(1).task, film(1), None)

    virtually(story)
    assert (judge.breaker.opened, judge.breaker.state) == (0, "closed")


def test_a_judgement_that_is_cancelled_leaves_the_breaker_to_the_next_one():
    endpoint = Scripted(*[JudgeTrouble("500")] * 2, YES, takes_s=1.0)
    judge = judge_of(endpoint, breaker_failures=2, breaker_open_s=10.0, attempts=9)

    async def story() -> Outcome:
        first = asyncio.create_task(judge.judge(film(1).task, film(1), None))
        while judge.breaker.state != "half open" or not endpoint.at_once:
            await asyncio.sleep(0.1)
        first.cancel()
        return await judge.judge(film(2).task, film(2), None)

    assert virtually(story).success


def test_tokens_are_counted_and_priced():
    _, judge, _ = judged(Reply("garbage", 500_000, 0), YES)
    summary = judge.summary()
    assert (summary["tokens_in"], summary["tokens_out"]) == (501_000, 20)
    assert summary["cost"] == pytest.approx(0.501 * 2.0 + 0.00002 * 10.0)


def test_a_reason_that_echoes_the_key_loses_it_also_where_it_would_be_cut(tmp_path):
    reason = "x" * 290 + SECRET
    outcome, _, _ = judged(Reply(json.dumps({"reason": reason, "success": True})), cache=str(tmp_path))
    assert outcome.reason == "vlm: " + "x" * 290 + "[key]"
    assert SECRET not in "".join(path.read_text() for path in tmp_path.rglob("*.json"))


def test_closing_closes_the_endpoint():
    endpoint = Scripted(YES)
    virtually(judge_of(endpoint).close)
    assert endpoint.closed


def test_what_a_config_lacks_is_named(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match=r"judge\.model"):
        VlmJudge.open(ModelSettings(kind="vlm"))
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        VlmJudge.open(ModelSettings(kind="vlm", model="m"))
