"""Who plays which task, until when."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from distrl.types import Lease, Task

MAX_ATTEMPTS = 3
"""A task that came back this often is let go: it may be what breaks the devices."""


@dataclass(frozen=True, slots=True)
class _Held:
    lease: Lease
    worker: str


class Leases:
    """Hands out tasks and takes them back. A task given back is the next one handed out."""

    def __init__(self, draw: Callable[[], Task], series: str, *, duration_s: float, now: Callable[[], float]) -> None:
        """`series` keeps the ids of one host process apart from those of the next."""
        self._draw = draw
        self._series = series
        self._duration_s = duration_s
        self._now = now
        self._held: dict[str, _Held] = {}
        self._returned: deque[Task] = deque()
        self._attempts: dict[str, int] = {}
        self._issued = 0

    @property
    def in_flight(self) -> int:
        return len(self._held)

    def issue(self, worker: str) -> Lease:
        self._issued += 1
        task = self._returned.popleft() if self._returned else self._draw()
        lease = Lease(f"{self._series}-{self._issued}", task, self._now() + self._duration_s)
        self._held[lease.id] = _Held(lease, worker)
        return lease

    def settle(self, lease_id: str, worker: str, *, again: bool = False) -> None:
        """This worker has delivered the trajectory of its lease. `again`: it was invalid or refused, and the task is
        played by somebody else, as it was leased."""
        held = self._held.get(lease_id)
        if held is None or held.worker != worker:
            return  # it ran out before, and the task was given back then
        del self._held[lease_id]
        if again:
            self._give_back(held.lease.task)
        else:
            self._attempts.pop(held.lease.task.id, None)

    def give_back(self, lease_ids: Iterable[str]) -> int:
        """Returns how many of these were held; giving back twice is no error."""
        held = [self._held.pop(lease_id) for lease_id in lease_ids if lease_id in self._held]
        for each in held:
            self._give_back(each.lease.task)
        return len(held)

    def give_back_all_of(self, worker: str) -> int:
        return self.give_back([key for key, held in self._held.items() if held.worker == worker])

    def expire(self) -> int:
        """Give back what nobody settled in time."""
        now = self._now()
        return self.give_back([key for key, held in self._held.items() if held.lease.expires_at <= now])

    def _give_back(self, task: Task) -> None:
        attempts = self._attempts.get(task.id, 0) + 1
        self._attempts[task.id] = attempts
        if attempts < MAX_ATTEMPTS:
            self._returned.append(task)
        else:
            del self._attempts[task.id]
