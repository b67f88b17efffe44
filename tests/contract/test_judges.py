"""What every judge of inspectable devices promises, on real episodes of the simulated phone."""

import asyncio
import copy

import pytest

from distrl.devices.sim.device import SimPhone
from distrl.evaluation.oracle import as_trajectory, play_oracle
from distrl.judges.chain import ChainJudge
from distrl.judges.rules import RuleJudge
from distrl.tasks.base import load_suite
from distrl.types import Done, Impossible, Outcome, Press, Wait


class Unasked:
    """Stands where a model would: rules that can judge never hand on."""

    async def judge(self, task, trajectory, evidence):
        raise AssertionError("Nobody may be asked what a rule knows.")


def chain() -> ChainJudge:
    return ChainJudge([RuleJudge(), Unasked()])


JUDGES = [RuleJudge, chain]
TASKS = load_suite("general").tasks("train", 6, seed=0)


@pytest.fixture(scope="module")
def episodes():
    """Solved tasks, each with what the phone gave as evidence."""

    async def play():
        device, played = SimPhone("sim://phone"), []
        for task in TASKS:
            demonstration = await play_oracle(device, task)
            played.append((task, demonstration, await device.evidence()))
        return played

    return asyncio.run(play())


def outcome(judge, task, demonstration, evidence) -> Outcome:
    return asyncio.run(judge().judge(task, as_trajectory(task, demonstration), evidence))


def ending_with(demonstration, action):
    return demonstration._replace(steps=[*demonstration.steps[:-1], (demonstration.last_screen, action)])


@pytest.mark.parametrize("judge", JUDGES)
def test_a_solved_task_is_a_success_each_time_it_is_asked(judge, episodes):
    for episode in episodes:
        assert outcome(judge, *episode) == outcome(judge, *episode) == Outcome("success")


@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("action", [Impossible(), Wait(), Press("home")])
def test_an_episode_that_the_agent_does_not_call_done_is_a_failure_with_a_reason(judge, action, episodes):
    for task, demonstration, evidence in episodes:
        found = outcome(judge, task, ending_with(demonstration, action), evidence)
        assert found.kind == "failure"
        assert found.reason


@pytest.mark.parametrize("judge", JUDGES)
def test_a_phone_on_which_nothing_happened_is_a_failure(judge, episodes):
    for task, demonstration, evidence in episodes:
        untouched = {"before": evidence["before"], "after": copy.deepcopy(evidence["before"])}
        assert outcome(judge, task, ending_with(demonstration, Done()), untouched).kind == "failure"


@pytest.mark.parametrize("judge", JUDGES)
def test_judging_leaves_the_evidence_as_it_was(judge, episodes):
    for task, demonstration, evidence in episodes:
        kept = copy.deepcopy(evidence)
        outcome(judge, task, demonstration, evidence)
        assert evidence == kept


@pytest.mark.parametrize("judge", JUDGES)
def test_a_broken_state_raises_and_is_no_failure_of_the_agent(judge, episodes):
    task, demonstration, _ = episodes[0]
    with pytest.raises(KeyError):
        outcome(judge, task, demonstration, {"before": {}, "after": {}})
