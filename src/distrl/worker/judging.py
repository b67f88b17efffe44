"""Episodes that are over and wait for their outcome. Their devices do not wait with them.

Invariants: an episode that was submitted ends in exactly one of two ways, as a trajectory in the spool or with its
lease given back; no more than `limit` wait at a time, and then the devices wait too.
"""

from __future__ import annotations

import asyncio
import json

from distrl.judges.base import Closable, Counting, Judge
from distrl.types import Trajectory, Tree
from distrl.worker.episode import Played
from distrl.worker.host_client import TolerantHostClient
from distrl.worker.uploader import Uploader

PROMPT_S = 0.05
"""A judge that answers within this is waited for: its trajectory is on disk before the next episode starts."""
USAGE_EVERY_S = 60.0


class Judging:
    """Owned by the worker, fed by its devices."""

    def __init__(
        self, judge: Judge, uploader: Uploader, host: TolerantHostClient, *, limit: int, timeout_s: float
    ) -> None:
        """`timeout_s`: the longest that a judge may take, whatever it promises itself."""
        self._judge = judge
        self._uploader = uploader
        self._host = host
        self._timeout_s = timeout_s
        self._room = asyncio.Semaphore(limit)
        self._tasks: set[asyncio.Task[None]] = set()
        self._broken = asyncio.Event()
        self._error: BaseException | None = None
        self._judge_fails = False
        self._reported_usage: Tree = {}

    def __len__(self) -> int:
        return len(self._tasks)

    async def submit(self, played: Played) -> None:
        """From here on the episode's lease is ours, also when the caller is cancelled. Returns when its device may play
        on."""
        if not played.unjudged:
            await self._upload(played.trajectory)
            return
        try:
            await self._room.acquire()
        except asyncio.CancelledError:
            await self._host.give_back([played.trajectory.lease_id])
            raise
        judging = asyncio.create_task(played.judged(self._judge, self._timeout_s))
        finishing = asyncio.create_task(self._finish(judging, played.trajectory.lease_id))
        self._tasks.add(finishing)
        finishing.add_done_callback(self._forget)
        await asyncio.wait([judging], timeout=PROMPT_S)
        if judging.done():  # what is left is the disk, and a full disk holds this device and no other
            await asyncio.wait([finishing])

    async def all_judged(self) -> None:
        """Returns when no episode waits any more. Raises what `raise_errors` raises."""
        while self._tasks:
            await asyncio.wait(self._tasks)
        if self._error is not None:
            raise self._error

    async def raise_errors(self) -> None:
        """Never returns. Raises what went wrong with an episode that no device waits for any more."""
        await self._broken.wait()
        assert self._error is not None
        raise self._error

    async def close(self) -> None:
        """Wait no longer: the lease of what has no outcome yet is given back."""
        await asyncio.sleep(0)  # a task that is cancelled before its first line never gives anything back
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._report_usage()
        if isinstance(self._judge, Closable):
            await self._judge.close()

    async def report_usage(self) -> None:
        """Tell the host now and then what the judge was asked and what that cost, until cancelled."""
        while True:
            await asyncio.sleep(USAGE_EVERY_S)
            await self._report_usage()

    # -- inside

    async def _finish(self, judging: asyncio.Task[Trajectory], lease_id: str) -> None:
        try:
            trajectory = await judging
            await self._report_change(trajectory)
        except asyncio.CancelledError:
            await self._host.give_back([lease_id])
            raise
        await self._upload(trajectory)

    async def _upload(self, trajectory: Trajectory) -> None:
        try:
            await self._uploader.put(trajectory)
        except asyncio.CancelledError:
            await self._host.give_back([trajectory.lease_id])
            raise

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._room.release()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._error = error
            self._broken.set()

    async def _report_change(self, trajectory: Trajectory) -> None:
        """An event when the judge begins to fail, and one when it is back; each episode says the rest itself."""
        fails = trajectory.outcome.kind == "invalid"
        if fails != self._judge_fails:
            self._judge_fails = fails
            kind, detail = ("judge_fails", trajectory.outcome.reason) if fails else ("judge_back", "it judges again")
            await self._host.event(kind, detail)

    async def _report_usage(self) -> None:
        usage = self._judge.summary() if isinstance(self._judge, Counting) else {}
        if usage != self._reported_usage:
            self._reported_usage = usage
            await self._host.event("judge_account", json.dumps(usage))
