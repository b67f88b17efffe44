"""A fixed list of tasks, played through the very code that plays for training, and handed over complete."""

from __future__ import annotations

import asyncio
import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from distrl.devices.base import Health
from distrl.devices.fleet.supervisor import HealthReporter
from distrl.runtime.progress import Progress
from distrl.store.codec import decode
from distrl.types import Features, Lease, Receipt, Task, Trajectory, VersionedWeights

if TYPE_CHECKING:
    from distrl.runtime.topology import Builder

MAX_ATTEMPTS = 3
"""A task whose episode is invalid this often counts as invalid."""
TOLD = ("device_quarantined",)
"""Events that explain a long silence."""


class TaskList:
    """The host of a worker that plays an evaluation: each task once, again if the device broke. A `HostClient`."""

    def __init__(
        self,
        name: str,
        tasks: Sequence[Task],
        watch: Callable[[list[Trajectory]], None] | None = None,
        events: HealthReporter | None = None,
    ) -> None:
        """`events` is told how the devices are, and so why nothing goes on."""
        self._name = name
        self._watch = watch
        self._events = events
        self._waiting = deque(enumerate(tasks))
        self._playing: dict[str, tuple[int, Task]] = {}
        self._attempts: dict[int, int] = {}
        self._results: dict[int, Trajectory] = {}

    @property
    def results(self) -> list[Trajectory]:
        """What is finished, in the order of the tasks."""
        return [self._results[number] for number in sorted(self._results)]

    async def join(self, worker: str) -> int:
        # Below zero: no number that a host gives out, and another one for each evaluation.
        return -1 - zlib.crc32(f"{self._name}/{worker}".encode())

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        if not self._waiting:
            # Somebody else's episode may still turn out invalid and come back.
            return [] if self._playing else None
        number, task = self._waiting.popleft()
        lease = Lease(f"{number}", task, float("inf"))
        self._playing[lease.id] = (number, task)
        return [lease]

    async def give_back(self, lease_ids: Sequence[str]) -> None:
        for lease_id in lease_ids:
            if lease_id in self._playing:
                self._waiting.append(self._playing.pop(lease_id))

    async def deliver(self, payloads: Sequence[bytes]) -> list[Receipt]:
        return [self._take(decode(payload)) for payload in payloads]

    def _take(self, trajectory: Trajectory) -> Receipt:
        number, task = self._playing.pop(trajectory.lease_id)
        attempts = self._attempts[number] = self._attempts.get(number, 0) + 1
        if trajectory.outcome.kind == "invalid" and attempts < MAX_ATTEMPTS:
            self._waiting.append((number, task))
            return Receipt("invalid")
        self._results[number] = trajectory
        if self._watch:
            self._watch(self.results)
        return Receipt("inserted")

    async def share(self, features: Features) -> None:
        return  # nobody learns from an evaluation

    async def latest(self, newer_than: int) -> VersionedWeights | None:
        return None

    async def report(self, worker: str, kind: str, detail: str) -> None:
        if self._events:
            await self._events.event(kind, detail)

    async def health(self, worker: str, health: Health) -> None:
        if self._events:
            await self._events.health(health)


class MemorySpool:
    """An outbox for what may be played again if this process dies."""

    def __init__(self) -> None:
        self._payloads: dict[str, bytes] = {}

    def put(self, identifier: str, payload: bytes, /) -> None:
        self._payloads[identifier] = payload

    def pending(self) -> list[str]:
        return list(self._payloads)

    def read(self, identifier: str, /) -> bytes:
        return self._payloads[identifier]

    def remove(self, identifier: str, /) -> None:
        self._payloads.pop(identifier, None)

    @property
    def size_bytes(self) -> int:
        return 0  # never a reason to stop


class EvaluationProgress:
    """Tells a `Progress` how far an evaluation has come."""

    def __init__(self, name: str, total: int, progress: Progress) -> None:
        self._name = name
        self._total = total
        self._progress = progress

    def __call__(self, results: Sequence[Trajectory]) -> None:
        self.count(len(results), sum(trajectory.outcome.success for trajectory in results))

    def count(self, done: int, successes: int, quarantined: int = 0) -> None:
        self._progress.update(
            {
                "phase": f"evaluate {self._name}",
                "evaluation": self._name,
                "evaluation_done": done,
                "evaluation_total": self._total,
                "evaluation_successes": successes,
                "quarantined": quarantined,
            }
        )


class PrintEvents:
    """A `HealthReporter` that tells a `Progress` why nothing goes on."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    async def event(self, kind: str, detail: str) -> None:
        if kind in TOLD:
            self._progress.message(f"{kind}: {detail}")

    async def health(self, health: Health) -> None:
        return


def play_evaluation(builder: Builder, progress: Progress) -> list[Trajectory]:
    """Play the config's evaluation tasks in this process, in real time, one worker's devices at once."""
    tasks = builder.evaluation_tasks()
    watch = EvaluationProgress(builder.config.policy.model, len(tasks), progress)
    task_list = TaskList("policy", tasks, watch, PrintEvents(progress))

    async def play() -> None:
        with ThreadPoolExecutor(max_workers=1) as executor:
            server = builder.server(builder.evaluation_policy(), executor)
            await builder.worker("evaluation", server, task_list, time.time, MemorySpool()).run()

    asyncio.run(play())
    return task_list.results
