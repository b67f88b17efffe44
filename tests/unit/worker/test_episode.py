from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from toy import ToyDevice, ToyJudge, ToyPolicy, toy_task

from distrl.errors import ActionRefused, DeviceError
from distrl.policies.server import PolicyServer
from distrl.types import Action, Decision, Done, Invalid, Outcome, Prompt, Screen, Tap, Task, Trajectory, Tree
from distrl.worker.episode import Episode, EpisodeLimits

LIMITS = EpisodeLimits(command_s=0.2, episode_s=2.0, history=3)


class Script:
    """A brain that says what it was told to say."""

    version = 7

    def __init__(self, *actions: Action) -> None:
        self.actions = list(actions)
        self.prompts: list[Prompt] = []

    async def act(self, prompt: Prompt) -> Decision:
        self.prompts.append(prompt)
        action = self.actions.pop(0)
        return Decision(action, f"{type(action).__name__}", (1,), (-0.5,), 0.1, self.version)

    async def load(self, weights: Any) -> None:
        raise AssertionError


def play(
    policy_client: Any, device: Any = None, judge: Any = None, limits: EpisodeLimits = LIMITS, task: Task | None = None
) -> tuple[Trajectory, Episode]:
    async def run() -> tuple[Trajectory, Episode]:
        clock = asyncio.get_running_loop().time
        episode = Episode(
            device or ToyDevice(),
            policy_client,
            judge or ToyJudge(),
            limits,
            new_id=lambda: "an-id",
            now=clock,
            worker="w",
        )
        return await episode.play(task or toy_task(2)), episode

    return asyncio.run(run())


def test_an_episode_that_reaches_its_goal_is_a_success() -> None:
    trajectory, episode = play(Script(Tap(2, 0), Done()))
    assert trajectory.outcome == Outcome("success")
    assert [type(step.decision.action) for step in trajectory.steps] == [Tap, Done]
    assert (trajectory.id, trajectory.worker, trajectory.device) == ("an-id", "w", "toy://0")
    assert trajectory.policy_version == 7
    assert trajectory.last_screen == trajectory.steps[-1].screen
    assert episode.fault is None


def test_the_prompt_names_the_last_actions_oldest_first() -> None:
    policy_client = Script(Tap(0, 0), Invalid("?", "no action"), Done())
    play(policy_client, limits=replace(LIMITS, history=1))
    assert [prompt.history for prompt in policy_client.prompts] == [(), ("Tap",), ("Invalid",)]


def test_an_episode_ends_at_its_step_limit_and_is_judged() -> None:
    trajectory, _ = play(Script(*[Tap(1, 0)] * 10))
    assert len(trajectory.steps) == 4
    assert trajectory.outcome == Outcome("failure", "out of steps")


def test_an_unparseable_action_costs_a_step_and_the_episode_goes_on() -> None:
    trajectory, _ = play(Script(Invalid("tap here", "no coordinates"), Tap(2, 0), Done()))
    assert trajectory.outcome.success
    assert trajectory.invalid_actions == 1


def test_a_refused_action_costs_what_an_invalid_one_does_and_the_episode_goes_on() -> None:
    class Careful(ToyDevice):
        async def perform(self, action: Action) -> None:
            if action == Tap(9, 9):
                raise ActionRefused("not there")
            await super().perform(action)

    trajectory, episode = play(Script(Tap(9, 9), Tap(2, 0), Done()), Careful())
    assert trajectory.outcome.success
    assert trajectory.steps[0].decision.action == Invalid("Tap", "not there")
    assert trajectory.invalid_actions == 1
    assert episode.fault is None


def test_a_lost_device_makes_the_episode_invalid_and_keeps_what_was_played() -> None:
    trajectory, episode = play(Script(Tap(2, 0), Tap(2, 0), Done()), ToyDevice(lost_at=[3]))
    assert trajectory.outcome.kind == "invalid"
    assert "toy://0" in trajectory.outcome.reason
    assert len(trajectory.steps) == 2
    assert isinstance(episode.fault, DeviceError)


def test_a_device_that_never_answers_is_lost_after_its_deadline() -> None:
    trajectory, episode = play(Script(), ToyDevice(latency_s=60.0), limits=replace(LIMITS, command_s=0.01))
    assert trajectory.outcome.kind == "invalid"
    assert "reset" in trajectory.outcome.reason
    assert isinstance(episode.fault, DeviceError)


def test_an_episode_that_lasts_too_long_is_invalid() -> None:
    trajectory, episode = play(
        Script(*[Tap(1, 0)] * 10), ToyDevice(latency_s=0.05), limits=replace(LIMITS, episode_s=0.12)
    )
    assert trajectory.outcome.kind == "invalid"
    assert "longer" in trajectory.outcome.reason
    assert isinstance(episode.fault, DeviceError)


def test_a_bug_in_a_driver_costs_one_episode() -> None:
    class Buggy(ToyDevice):
        async def screen(self) -> Screen:
            raise ZeroDivisionError

    trajectory, episode = play(Script(Tap(1, 0)), Buggy())
    assert trajectory.outcome.kind == "invalid"
    assert "ZeroDivisionError" in trajectory.outcome.reason
    assert isinstance(episode.fault, DeviceError)


def test_a_judge_that_fails_never_means_reward_zero() -> None:
    class Broken:
        async def judge(self, task: Task, trajectory: Trajectory, evidence: Tree | None) -> Outcome:
            raise ConnectionError("429")

    trajectory, episode = play(Script(Tap(2, 0), Done()), judge=Broken())
    assert trajectory.outcome.kind == "invalid"
    assert "429" in trajectory.outcome.reason
    assert episode.fault is None  # the phone has done nothing wrong


def test_an_error_of_the_policy_is_raised() -> None:
    with pytest.raises(IndexError):
        play(Script())


def test_a_policy_behind_a_server_plays_an_episode() -> None:
    trajectory, _ = play(PolicyServer(ToyPolicy(seed=3), batch_size=4))
    assert trajectory.steps
    assert all(step.decision.logprob < 0 for step in trajectory.steps)
