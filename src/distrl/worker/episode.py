"""One task on one device, from reset to outcome."""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from distrl.devices.base import Device, Inspectable
from distrl.errors import (
    ActionRefused,
    ConfigError,
    DeviceError,
    DeviceLost,
    EpisodeTooLong,
    PolicyUnreachable,
    Unplayable,
)
from distrl.judges.base import Judge
from distrl.policies.prompts import history_of
from distrl.types import Invalid, Outcome, Prompt, Screen, Step, Task, Trajectory, Tree, ends_episode
from distrl.worker.base import PolicyClient

T = TypeVar("T")

UNJUDGED = Outcome("invalid", "not judged yet")


@dataclass(frozen=True)
class EpisodeLimits:
    """How long a device may take, and what the prompt remembers."""

    command_s: float
    episode_s: float
    history: int


@dataclass(frozen=True)
class Played:
    """An episode that is over, and what its judge may look at."""

    trajectory: Trajectory
    evidence: Tree | None

    @property
    def unjudged(self) -> bool:
        """False where the device or the policy server has decided already: the episode is invalid."""
        return self.trajectory.outcome is UNJUDGED

    async def judged(self, judge: Judge, limit_s: float) -> Trajectory:
        """The trajectory with its outcome, which is `invalid` if the judge fails or takes longer than the limit."""
        if not self.unjudged:
            return self.trajectory
        return replace(self.trajectory, outcome=await self._outcome(judge, limit_s))

    async def _outcome(self, judge: Judge, limit_s: float) -> Outcome:
        deadline = asyncio.timeout(limit_s)
        try:
            async with deadline:
                return await judge.judge(self.trajectory.task, self.trajectory, self.evidence)
        except Exception as error:  # whatever stopped the judge, the agent is not to blame: invalid, never reward 0
            reason = f"no outcome within {limit_s:.0f} s" if deadline.expired() else repr(error)
            return Outcome("invalid", f"the judge failed: {reason}"[:500])


class Episode:
    """Plays tasks on one device. Touches no queue, so a test can call it directly.

    Infrastructure failures end in an `invalid` outcome and never in a failure of the agent: a device, a judge or a
    policy server that does not answer. An error of the policy is no property of a device or a task: it is raised.
    """

    def __init__(
        self,
        device: Device,
        policy_client: PolicyClient,
        judge: Judge,
        limits: EpisodeLimits,
        *,
        new_id: Callable[[], str],
        now: Callable[[], float],
        worker: str = "",
        slot: int | None = None,
    ) -> None:
        """`slot` tells this device from the worker's others, whose address may be the same."""
        self.device = device
        self.policy_client = policy_client
        self.judge = judge
        self.limits = limits
        self.new_id = new_id
        self.now = now
        self.worker = worker
        self.device_name = device.address if slot is None else f"{device.address}#{slot}"
        self.fault: DeviceError | None = None
        """Why the last episode ended, if that was because of the device: then it needs care before the next one."""

    async def play(self, task: Task) -> Trajectory:
        return await (await self.play_out(task)).judged(self.judge, self.limits.command_s)

    async def play_out(self, task: Task, lease_id: str = "") -> Played:
        """Everything that needs the device; what is left is to judge it. `lease_id` goes with the trajectory, which
        settles it."""
        started_at = self.now()
        record = _Record()
        outcome = UNJUDGED
        evidence: Tree | None = None
        self.fault = None
        try:
            async with asyncio.timeout(self.limits.episode_s):
                await self._act_out(task, record)
            evidence = await self._evidence()
        except TimeoutError:
            self.fault = EpisodeTooLong(self.device.address, self.limits.episode_s)
        except DeviceError as error:
            self.fault = error
        except PolicyUnreachable as error:
            outcome = Outcome("invalid", str(error))
        if self.fault is not None:
            outcome = Outcome("invalid", str(self.fault))
        trajectory = Trajectory(
            id=self.new_id(),
            task=task,
            steps=tuple(record.steps),
            outcome=outcome,
            last_screen=record.screen,
            worker=self.worker,
            device=self.device_name,
            started_at=started_at,
            duration_s=self.now() - started_at,
            lease_id=lease_id,
        )
        return Played(trajectory, evidence)

    async def _act_out(self, task: Task, record: _Record) -> None:
        record.screen = await self._ask("reset", self.device.reset(task))
        while len(record.steps) < task.max_steps:
            before = self.now()
            prompt = Prompt(task.goal, record.screen, history_of(record.steps, self.limits.history))
            decision = await self.policy_client.act(prompt)
            if ends_episode(decision.action):
                record.steps.append(Step(record.screen, decision, self.now() - before))
                return
            # The step is written down first: if the device is lost now, what it was told last is on record.
            record.steps.append(Step(record.screen, decision))
            try:
                await self._ask("perform", self.device.perform(decision.action))
            except ActionRefused as refusal:  # the agent's own doing: it costs the penalty of an invalid action
                decision = replace(decision, action=Invalid(decision.text, str(refusal)))
            record.steps[-1] = Step(record.screen, decision, self.now() - before)
            record.screen = await self._ask("screen", self.device.screen())

    async def _ask(self, operation: str, answer: Awaitable[T]) -> T:
        """The device's answer within its deadline, any trouble as a `DeviceError`."""
        try:
            async with asyncio.timeout(self.limits.command_s):
                return await answer
        except DeviceError:
            raise
        except TimeoutError:
            raise DeviceLost(self.device.address, operation, self.limits.command_s) from None
        except ConfigError as error:
            raise Unplayable(str(error)) from error
        except Exception as error:  # a bug in one driver costs one episode on one device, never the worker
            raise DeviceError(f"{self.device.address} broke in {operation}: {error!r}") from error

    async def _evidence(self) -> Tree | None:
        if not isinstance(self.device, Inspectable):
            return None
        return await self._ask("evidence", self.device.evidence())


class _Record:
    """What has happened so far; survives the exception that ends an episode."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.screen: Screen | None = None


class TrajectoryIds:
    """New trajectory ids: unique over workers, restarts and resumes, and the same again in a repeated serial run.

    `incarnation` must be a number that no other worker of the run was ever given.
    """

    def __init__(self, seed: int, incarnation: int) -> None:
        self._rng = random.Random(f"trajectories/{seed}/{incarnation}")

    def __call__(self) -> str:
        return str(uuid.UUID(int=self._rng.getrandbits(128), version=4))
