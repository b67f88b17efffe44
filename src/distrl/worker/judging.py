"""Episodes that are over and wait for their outcome. Their devices do not wait with them.

Invariants: a lease that was taken ends in exactly one of two ways, as a trajectory in the spool or given back; no more
than `limit` wait at a time, and then the devices wait too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json

from distrl.errors import Unreachable
from distrl.judges.base import Closable, Counting, Judge
from distrl.types import Lease, Trajectory, Tree
from distrl.worker.base import HostClient
from distrl.worker.episode import Played
from distrl.worker.uploader import Uploader

PROMPT_S = 0.05
"""A judge that answers within this is waited for: its trajectory is on disk before the next episode starts."""
ACCOUNT_EVERY_S = 60.0


class Judging:
    """Owned by the worker, fed by its slots."""

    def __init__(
        self, worker: str, judge: Judge, uploader: Uploader, client: HostClient, *, limit: int, judge_s: float
    ) -> None:
        """`judge_s`: the longest that a judge may take, whatever it promises itself."""
        self._worker = worker
        self._judge = judge
        self._uploader = uploader
        self._client = client
        self._judge_s = judge_s
        self._room = asyncio.Semaphore(limit)
        self._tasks: set[asyncio.Task[None]] = set()
        self._broken = asyncio.Event()
        self._error: BaseException | None = None
        self._judge_fails = False
        self._told: Tree = {}

    def __len__(self) -> int:
        return len(self._tasks)

    async def take(self, played: Played, lease: Lease) -> None:
        """From here on the lease is ours, also when the caller is cancelled. Returns when its device may go on."""
        if not played.unjudged:
            await self._post(played.trajectory, lease)
            return
        try:
            await self._room.acquire()
        except asyncio.CancelledError:
            await self._give_back(lease)
            raise
        judging = asyncio.create_task(played.judged(self._judge, self._judge_s))
        concluding = asyncio.create_task(self._conclude(judging, lease))
        self._tasks.add(concluding)
        concluding.add_done_callback(self._let_go)
        await asyncio.wait([judging], timeout=PROMPT_S)
        if judging.done():  # what is left is the disk, and a full disk holds this device and no other
            await asyncio.wait([concluding])

    async def settled(self) -> None:
        """Returns when nobody waits any more. Raises what `watch` raises."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        if self._error is not None:
            raise self._error

    async def watch(self) -> None:
        """Raises what went wrong with an episode that nobody looks after any more."""
        await self._broken.wait()
        assert self._error is not None
        raise self._error

    async def close(self) -> None:
        """Wait no longer: what has no outcome yet is given back."""
        await asyncio.sleep(0)  # a task that is cancelled before its first line never gives anything back
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._tell_account()
        if isinstance(self._judge, Closable):
            await self._judge.close()

    async def keep_account(self) -> None:
        """Tell the host now and then what the judge was asked and what that cost."""
        while True:
            await asyncio.sleep(ACCOUNT_EVERY_S)
            await self._tell_account()

    # -- inside

    async def _conclude(self, judging: asyncio.Task[Trajectory], lease: Lease) -> None:
        try:
            trajectory = await judging
            await self._note(trajectory)
            await self._uploader.post(trajectory, lease.id)
        except asyncio.CancelledError:
            await self._give_back(lease)
            raise

    async def _post(self, trajectory: Trajectory, lease: Lease) -> None:
        try:
            await self._uploader.post(trajectory, lease.id)
        except asyncio.CancelledError:
            await self._give_back(lease)
            raise

    def _let_go(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = error
            self._broken.set()

    async def _note(self, trajectory: Trajectory) -> None:
        """An event when the judge begins to fail, and one when it is back; each episode says the rest itself."""
        fails = trajectory.outcome.kind == "invalid"
        if fails != self._judge_fails:
            self._judge_fails = fails
            await self._report(
                "judge_fails" if fails else "judge_back", trajectory.outcome.reason if fails else "it judges again"
            )

    async def _tell_account(self) -> None:
        account = self._judge.summary() if isinstance(self._judge, Counting) else {}
        if account != self._told:
            self._told = account
            await self._report("judge_account", json.dumps(account))

    async def _give_back(self, lease: Lease) -> None:
        with contextlib.suppress(Unreachable):  # the host gives it back itself once the lease has run out
            await self._client.give_back([lease.id])

    async def _report(self, kind: str, detail: str) -> None:
        with contextlib.suppress(Unreachable):
            await self._client.report(self._worker, kind, detail)
