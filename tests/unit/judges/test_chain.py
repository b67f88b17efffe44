from __future__ import annotations

import asyncio

import pytest
from films import film

from distrl.errors import CannotJudge
from distrl.judges.chain import ChainJudge
from distrl.judges.rules import RuleJudge
from distrl.types import Outcome


class Fixed:
    """Says this, or raises it."""

    def __init__(self, said: Outcome | Exception) -> None:
        self.said = said
        self.asked = 0
        self.closed = False

    async def judge(self, task, trajectory, evidence):
        self.asked += 1
        if isinstance(self.said, Exception):
            raise self.said
        return self.said

    async def close(self) -> None:
        self.closed = True

    def summary(self):
        return {"asked": self.asked}


def judged(*judges, evidence=None) -> Outcome:
    return asyncio.run(ChainJudge(judges).judge(film(1).task, film(1), evidence))


def test_the_first_that_can_judge_decides_and_later_judges_are_not_asked():
    second = Fixed(Outcome("success"))
    assert judged(Fixed(Outcome("failure", "rule")), second) == Outcome("failure", "rule")
    assert second.asked == 0


def test_a_judge_that_cannot_judge_passes_on_and_the_last_error_is_raised():
    assert judged(Fixed(CannotJudge("no rule")), Fixed(Outcome("success"))) == Outcome("success")
    with pytest.raises(CannotJudge, match="no model"):
        judged(Fixed(CannotJudge("no rule")), Fixed(CannotJudge("no model")))


def test_a_judge_that_breaks_does_not_hand_on():
    with pytest.raises(KeyError):
        judged(Fixed(KeyError("broken state")), Fixed(Outcome("success")))


@pytest.mark.parametrize("evidence", [None, {"before": {}, "after": {}}], ids=["no evidence", "no template"])
def test_rules_hand_on_what_they_have_no_evidence_or_no_rule_for(evidence):
    assert judged(RuleJudge(), Fixed(Outcome("success", "vlm: yes")), evidence=evidence) == Outcome(
        "success", "vlm: yes"
    )


def test_a_chain_closes_and_counts_for_all_of_it():
    last = Fixed(Outcome("success"))
    chain = ChainJudge([RuleJudge(), last])
    asyncio.run(chain.judge(film(1).task, film(1), None))
    assert chain.summary() == {"asked": 1}
    asyncio.run(chain.close())
    assert last.closed
