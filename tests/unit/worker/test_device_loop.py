"""Whatever a device does, its slot holds no task while the device is cared for, and no episode is lost or doubled."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from flaky_devices import PHONE
from hypothesis import given, settings
from hypothesis import strategies as st
from toy import ToyDevice, ToyJudge, ToyPolicy, toy_config, toy_task

from distrl.devices.base import Health, Rung
from distrl.errors import DeviceError, DeviceGone, NoSuchDevice
from distrl.policies.server import PolicyServer
from distrl.runtime.clock import run_virtually
from distrl.runtime.evaluation import MemorySpool, TaskList
from distrl.types import Lease, Screen
from distrl.worker.worker import Worker

DEEDS = ("well", "well", "lost", "gone", "absent", "bug", "hang")
Story = list[str]


class Ledger(TaskList):
    """A host that knows which tasks are out, plays invalid ones again, and keeps account of what it was given."""

    def __init__(self, tasks: int) -> None:
        super().__init__("ledger", [toy_task(number) for number in range(tasks)])
        self.out: dict[str, str] = {}
        self.leased = self.returned = 0
        self.delivered: list[str] = []
        self.invalid = 0
        self.last: dict[int, Health] = {}

    async def lease(self, worker: str, count: int) -> list[Lease] | None:
        leases = await super().lease(worker, count)
        self.leased += len(leases or ())
        self.out.update({lease.task.id: lease.id for lease in leases or ()})
        return leases

    async def give_back(self, lease_ids: Any) -> None:
        self.returned += len(lease_ids)
        self.out = {task: lease for task, lease in self.out.items() if lease not in lease_ids}
        await super().give_back(lease_ids)

    def _take(self, trajectory: Any) -> Any:
        self.delivered.append(trajectory.id)
        self.invalid += trajectory.outcome.kind == "invalid"
        return super()._take(trajectory)

    async def health(self, worker: str, health: Health) -> None:
        self.last[health.slot] = health


class LedgerSpool(MemorySpool):
    """What is in the spool is no task that anybody holds: the host will hear of it, whatever happens."""

    def __init__(self, host: Ledger) -> None:
        super().__init__()
        self.host = host

    def put(self, identifier: str, payload: bytes, /) -> None:
        from distrl.store.codec import decode

        super().put(identifier, payload)
        self.host.out.pop(decode(payload).task.id, None)


class Moody(ToyDevice):
    """Does at each call what its story says next, and well when the story is over. `care` is told of every call that
    only a supervisor makes."""

    def __init__(self, slot: int, story: Story, care: Any) -> None:
        super().__init__(f"toy://{slot}")
        self.story, self.care = story, care
        self.rungs = PHONE
        self.episode = False

    async def _act(self, name: str) -> None:
        await asyncio.sleep(0.01)
        deed = self.story.pop() if self.story else "well"
        if deed == "lost":
            raise DeviceError(f"{name} did not work")
        if deed == "gone":
            raise DeviceGone(self.address, name, "it left")
        if deed == "absent":
            raise NoSuchDevice("it is not there")
        if deed == "bug":
            raise ZeroDivisionError(name)
        if deed == "hang":
            await asyncio.sleep(1e9)

    async def reset(self, task: Any) -> Screen:
        await self._act("reset")
        return await super().reset(task)

    async def perform(self, action: Any) -> None:
        await self._act("perform")
        await super().perform(action)

    async def screen(self) -> Screen:
        await self._act("screen")
        return await super().screen()

    async def recover(self, rung: Rung) -> None:
        self.care()
        await self._act(rung)

    async def close(self) -> None:
        await self._act("close")


class Bare(Moody):
    """The same, without rungs."""

    def __init__(self, slot: int, story: Story, care: Any) -> None:
        super().__init__(slot, story, care)
        del self.rungs


def work(kind: type[Moody], stories: list[Story], tasks: int, folder: Path) -> tuple[Ledger, list[int]]:
    """The host after all is played, and how many tasks were held at each moment of care."""
    host, held = Ledger(tasks), []

    def care() -> None:
        held.append(len(host.out))

    async def main(loop: Any) -> None:
        async def open_device(slot: int) -> Any:
            care()
            device = kind(slot, stories[slot], care)
            await device._act("open")
            return device

        await Worker(
            "w",
            toy_config(
                folder,
                devices={
                    "per_worker": len(stories), "command_timeout_s": 5, "boot_timeout_s": 20, "quarantine_s": 5
                },
            ),
            client=host,
            policy_client=PolicyServer(ToyPolicy(), batch_size=8),
            judge=ToyJudge(),
            open_device=open_device,
            spool=LedgerSpool(host),
            now=loop.time,
        ).run()  # fmt: skip

    run_virtually(main)
    return host, held


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from((Moody, Bare)),
    story=st.lists(st.sampled_from(DEEDS), max_size=60),
    tasks=st.integers(1, 6),
)
def test_a_slot_holds_no_task_while_its_device_is_cared_for(tmp_path_factory, kind, story, tasks):
    host, held = work(kind, [story], tasks, tmp_path_factory.getbasetemp())
    assert set(held) == {0}
    assert host.leased - host.returned == len(host.delivered) == len(set(host.delivered))
    assert len(host.results) == tasks
    assert host.leased - host.returned - host.invalid == sum(t.outcome.kind != "invalid" for t in host.results)


@settings(max_examples=30, deadline=None)
@given(stories=st.lists(st.lists(st.sampled_from(DEEDS), max_size=40), min_size=2, max_size=4))
def test_no_episode_is_lost_or_doubled_whatever_several_devices_do(tmp_path_factory, stories):
    host, _ = work(Moody, stories, 8, tmp_path_factory.getbasetemp())
    assert host.leased - host.returned == len(host.delivered) == len(set(host.delivered))
    assert len(host.results) == 8


def test_a_device_that_never_opens_blocks_nobody_and_the_last_task_ends_the_worker(tmp_path):
    host, _ = work(Moody, [["absent"] * 100_000, []], 10, tmp_path)
    assert len(host.results) == 10
    assert host.invalid == 0
    assert host.last[0].condition in ("recovering", "quarantined")


def test_a_task_that_a_broken_device_gave_up_is_played_elsewhere(tmp_path):
    # Device 0 opens and proves itself (the story is read from its end), breaks in its first reset, and stays broken.
    host, _ = work(Moody, [["lost"] * 100_000 + ["well"] * 3, []], 6, tmp_path)
    assert host.invalid == 1
    assert {trajectory.device for trajectory in host.results} == {"toy://1#1"}
    assert len(host.results) == 6
